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
#pragma once

#include "compiler/dispatch/analysis/convolution.h"

namespace tenon::compiler::dispatch {

/// Of a convolution whose channels are few (Convolution::hasManyChannels), or no multiple of 16 bytes. Nothing happens
/// where its window has no column.
void joinWindowWithChannels(const Convolution &convolution);

} // namespace tenon::compiler::dispatch
