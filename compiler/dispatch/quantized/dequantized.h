// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of f32 that are integers of 8 bits, less a zero point, times a scale:
//
//   x[n, h, w, c] = (q[n, h, w, c] - 128) * s        activations: one scale for all
//   w[o, h, w, c] = q[o, h, w, c] * s[o]             filters: a scale for each channel
//
// Networks that were quantised for other hardware have one in front of each product (ONNX's DequantizeLinear). Between
// it and the product there may be what only moves elements: reshapes, transposes, copies with zeros around them.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

struct Dequantized {
  mlir::Value integers;    // a tensor of i8
  bool isUnsigned = false; // what its elements mean
  int64_t zero = 0;
  mlir::Value scale;        // f32: a tensor, or a scalar outside of the body; null: `factor`
  mlir::FloatAttr factor;   // null, too: 1
  mlir::AffineMap scaleMap; // dimensions of the f32 tensor -> those of the scale, of which some may be at 0

  llvm::SmallVector<mlir::Operation *> moves; // from the f32 tensor back to what computes it from the integers

  /// The largest distance of an element from the zero point.
  int64_t largest() const;
  /// Leaves out the moves that are only another order of dimensions, or repeat elements, up to the first other one.
  /// @param map how an operation reads the f32 tensor
  /// @return how it then reads what is left
  mlir::AffineMap readThrough(mlir::AffineMap map);
  /// The integers where the f32 tensor has what they stand for, as signed ones: moved as it was, with the zero point
  /// where that has 0. `zero` is then signedZero().
  mlir::Value buildSigned(mlir::OpBuilder &b, mlir::Location loc) const;
  int64_t signedZero() const { return isUnsigned ? zero - 128 : zero; }
};

/// Nothing for a tensor that is computed in any other way, or whose zero point is not known.
std::optional<Dequantized> dequantizedOf(mlir::Value tensor);

} // namespace tenon::compiler::dispatch
