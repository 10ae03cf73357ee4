// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a convolution by its image reads filters that are turned around. Where a copy of them was made for it
// alone, its window runs backwards instead:
//
//   image[n, y + r, c] * turned[r], turned[r] = filters[2 - r]    ->    image[n, y - r + 2, c] * filters[r]
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Of a convolution whose filters are such a copy; of others nothing happens.
void readBackwards(const Convolution &convolution);
/// The same of one of each channel for itself, or of anything else.
void readBackwards(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
