// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of each channel for itself that have several results of each, and their like, such as the gradient by
// the image of groups of one filter:
//
//   result[n, y, x, g, m] = sum of image[n, y + ky, x + kx, g] * filters[ky, kx, g, m]
//
// As a product each channel has a matrix of a few columns, which fill no tile, and its sum is as short as the window.
// Of an image that repeats its channels, repeated[n, y, x, g, m] = image[n, y, x, g], it is a convolution of each
// channel for itself, with g * m of them.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Of such a convolution of few results of each channel, whose sizes are known: it reads a copy of the image, and
/// filters whose channels are as the image's; nothing happens to others.
/// @return whether it is one
bool repeatChannels(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
