// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Filters beside an image that stays as it lies, each channel's places in a row (channels_last.h). Hopper's tensor
// cores read one side of a product of tf32 from registers, whichever way it lies; the other one has to lie along what
// is summed:
//
//   image[n, c, p] * filters[c, f]  ->  image[n, c, p] * filters[f, c]
//
// Filters are fewer than places, so these are turned.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// The filters of a product of tf32 on Hopper alone, beside an image that lies across, each channel's places in a row
/// that begins at a vector; null for other operations.
mlir::OpOperand *filtersBesideImage(mlir::linalg::GenericOp op);

/// Of a product of tf32 on Hopper alone of such an image and filters that lie across, too. Of other operations nothing
/// happens.
void bringFiltersAlong(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
