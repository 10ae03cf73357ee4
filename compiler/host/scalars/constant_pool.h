// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor constants of a program: bytes in row-major order, equal ones once.
//
// Accepted: dense<...>, dense_resource<...>. i1 takes a byte per element, like every buffer. A constant that repeats (a
// splat, rows that are all alike) is kept as what it repeats. Nothing that is in the module is copied but i1.
#pragma once

#include "compiler/host/program/program.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <cstdint>
#include <map>
#include <vector>

namespace tenon::compiler::host {

class ConstantPool {
public:
  /// Index of the constant with the bytes of `value`, whose module must live as long as what take() returns. An error
  /// at `location`: sparse elements, an element type that programs cannot hold, more than 2^48 bytes, or a resource
  /// without its bytes.
  mlir::FailureOr<uint32_t> intern(mlir::ElementsAttr value, mlir::Location location);

  /// [index]
  std::vector<Constant> take();

private:
  uint32_t add(Constant constant);

  std::vector<Constant> constants_;
  std::multimap<std::pair<uint64_t, uint64_t>, uint32_t> indices_; // by size and hash
};

} // namespace tenon::compiler::host
