// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product of integers without its factors' zero points, and the two sums that are subtracted behind it
// (zero_points.h). A convolution's image reads zeros around itself then, so that for places at its border the sums of
// the filters are those of the places inside.
#pragma once

#include "compiler/dispatch/quantized/quantized_factor.h"

namespace tenon::compiler::dispatch {

/// Replaces the sum of products `op`, if tensor cores can multiply what is left. False: nothing has changed.
/// `filters` has a dimension for each of its loops; `image` is the one that may have a border.
bool separateZeroPoints(mlir::linalg::GenericOp op, const QuantizedFactor &image, const QuantizedFactor &filters);

} // namespace tenon::compiler::dispatch
