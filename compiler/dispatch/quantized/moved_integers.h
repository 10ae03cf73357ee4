// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dequantised tensor as a product reads it: between the two may be what only moves elements, such as reshapes,
// transposes, and copies with zeros around them. The integers can be moved in its place.
#pragma once

#include "compiler/dispatch/quantized/dequantized.h"

namespace tenon::compiler::dispatch {

struct MovedIntegers {
  Dequantized numbers;                        // `scaleMap` is of the tensor that was moved
  llvm::SmallVector<mlir::Operation *> moves; // from that tensor back to what dequantises

  /// Leaves out the moves that are only another order of dimensions, or repeat elements, up to the first other one.
  /// @param map how an operation reads the f32 tensor
  /// @return how it then reads what is left
  mlir::AffineMap readThrough(mlir::AffineMap map);
  /// The integers where the f32 tensor has what they stand for, as signed ones, with the zero point where it has 0.
  mlir::Value buildSigned(mlir::OpBuilder &b, mlir::Location loc) const;
};

/// Nothing for a tensor that is computed in any other way.
std::optional<MovedIntegers> movedIntegersOf(mlir::Value tensor);

} // namespace tenon::compiler::dispatch
