// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The region of a sort or a top-k that compares one operand's elements and nothing else: `a < b`, `a >= b` and their
// like. Whether equal elements come out true makes no difference: they keep their order.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Types.h"

#include <optional>

namespace tenon::compiler::codegen {

struct Comparison {
  unsigned operand = 0; // whose elements are compared
  mlir::Type type;      // of them, an integer or float
  bool isDescending = false;
  bool isSigned = false; // of integers

  /// Nothing where the region is anything else.
  static std::optional<Comparison> of(mlir::Block &body);
};

} // namespace tenon::compiler::codegen
