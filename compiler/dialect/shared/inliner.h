// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation of our dialects may be inlined: none of them refers to the function that holds it.
#pragma once

#include "mlir/Transforms/InliningUtils.h"

namespace tenon::compiler {

struct AlwaysInline : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(mlir::Operation *, mlir::Operation *, bool) const final { return true; }
  bool isLegalToInline(mlir::Region *, mlir::Region *, bool, mlir::IRMapping &) const final { return true; }
  bool isLegalToInline(mlir::Operation *, mlir::Region *, bool, mlir::IRMapping &) const final { return true; }
};

} // namespace tenon::compiler
