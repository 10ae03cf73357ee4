// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions whose windows lie side by side, as the first layer of a vision transformer cuts its image into patches:
//
//   result[n, y, x, f] = sum of image[n, c, 16 y + ky, 16 x + kx] * filters[f, c, ky, kx]
//
// No element is in two windows, so each dimension of the image that a window slides along is two, and this is a product
// of matrices. Of few channels the patches are copied, so that the elements of each are neighbours in the order of the
// filters' elements:
//
//   patches[n, y, x, c, ky, kx] = image[n, c, (y, ky), (x, kx)]
//
// A kernel of its own copies them: a row of a window is no vector, and each tile of filters would read its elements.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Of a convolution on tensor cores with few channels; null where its windows are no such patches.
/// @return the product that reads the patches
mlir::linalg::GenericOp multiplyPatches(mlir::linalg::GenericOp convolution);
/// Such a product has no loop over a single image: its places are rows of a matrix.
void dropSingleImage(mlir::linalg::GenericOp product);

} // namespace tenon::compiler::dispatch
