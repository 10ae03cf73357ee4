// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of images with few channels (red, green, blue). Of 128 bytes that tensor cores multiply at once, three
// channels of 16 bits fill six. The window's columns and the channels are one dimension of a copy, the image with each
// result's part of each row:
//
//   image[n, 2 y + ky, 2 x + kx, c]    -> rows[n, 2 y + ky, x, k]    k = 3 kx + c, zeros behind the last
//   filters[ky, kx, c, f]              -> filters[f, ky, k]          the same zeros
//
// Where it takes no more memory, rows of the window are in it as well: then the convolution is a product of matrices.
// The copy has the border, too.
//
// The gradient by the filters reads such a copy of the image, in which k is a line of 128 bytes, and is read from what
// it sums by it: filters[f, ky, kx, c] = sums[f, ky, 3 kx + c].
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Of a convolution, of images of unknown number and size, too, whose channels are few (Convolution::hasManyChannels),
/// or no multiple of 16 bytes, or of a gradient by filters of such a one. Nothing happens where its window has no
/// column.
/// @return what reads the copies
mlir::linalg::GenericOp joinWindowWithChannels(const Convolution &convolution);

} // namespace tenon::compiler::dispatch
