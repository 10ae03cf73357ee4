// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor constants of a program: bytes in row-major order, equal ones once.
//
// Accepted: dense<...> (splats are written out), dense_resource<...>. i1 takes a byte per element, like every buffer.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <cstdint>
#include <map>
#include <vector>

namespace tenon::compiler::host {

class ConstantPool {
public:
  /// Index of the constant with the bytes of `value`. An error at `location`: sparse elements, an element type that
  /// programs cannot hold, more than 1 GiB, or a resource without its bytes.
  mlir::FailureOr<uint32_t> intern(mlir::ElementsAttr value, mlir::Location location);

  /// [index] bytes.
  std::vector<std::vector<uint8_t>> take();

private:
  std::map<std::vector<uint8_t>, uint32_t> indices_;
};

} // namespace tenon::compiler::host
