// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A factor of a quantised product: what an input holds, extended to 32 bits, less a zero point.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

struct QuantizedFactor {
  mlir::OpOperand *operand = nullptr;
  mlir::Operation *extension = nullptr; // of the input to 32 bits
  mlir::Value zero;                     // i32, outside of the body; null: 0

  mlir::AffineMap map() const;
  mlir::RankedTensorType type() const;
  bool hasZero() const; // that is not known to be 0
};

/// The factor that `value`, an operand of the body's multiplication, is. A zero point that is a constant of the body
/// gets a copy in front of `op`. Nothing for values of another form.
std::optional<QuantizedFactor> quantizedFactorOf(mlir::Value value, mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
