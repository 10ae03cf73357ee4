// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of convolutions by their filters, of few images, in tf32 on Hopper. Its tensor cores multiply neighbours of
// what is summed: images, where these fill a line, else the places of one. A window slides along places, and boxes
// begin at multiples of 16 bytes; so there is a copy of the image for each column of the window, moved by it, with the
// border, and rows of places behind each other, of which the window's rows are whole ones apart:
//
//   moved[n, c, kx, (y, x)] = image[n, y, x + kx, c]
//   result[f, ky, kx, c] = sum over n and p of gradient[n, f, p] * moved[n, c, kx, p + ky * width]
//
// An H200, 4 images of 128 x 128, 128 channels, 3 x 3: 580 us by warps, 161 so, 127 where channels come first.
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Of such a gradient whose places fill steps of a sum, where copies take less time than is won. Else nothing happens.
/// @return whether it has become a product that reads the copies
bool multiplyShiftedImages(const Convolution &convolution);

/// Whether warps read both sides of such a gradient as they lie, channels last, in less time than that.
bool readsBothAcross(const Convolution &convolution);

} // namespace tenon::compiler::dispatch
