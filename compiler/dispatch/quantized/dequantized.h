// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of f32 that are integers of 8 bits, less a zero point, times a scale:
//
//   x[n, h, w, c] = (q[n, h, w, c] - 128) * s        activations: one scale for all
//   w[o, h, w, c] = q[o, h, w, c] * s[o]             filters: a scale for each channel
//
// Networks that were quantised for other hardware have one in front of each product (ONNX's DequantizeLinear). The zero
// point may be subtracted from the integer or from the float, and each step may be an operation of its own.
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

  /// The largest distance of an element from the zero point.
  int64_t largest() const;
  /// The zero point of the same integers with their highest bit turned, if they are unsigned: then they are signed.
  int64_t signedZero() const { return isUnsigned ? zero - 128 : zero; }
};

/// Nothing where the operation computes anything else, or the zero point is not known.
std::optional<Dequantized> dequantizedBy(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
