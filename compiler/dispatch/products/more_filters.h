// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Filters of zeros beside those that there are, where these are too few for tensor cores, or their elements are not
// copied at once. The result has them, too, and whoever reads it takes the first ones.
//
// - Gradients by filters in 16 bits whose filters are no whole vectors: the result's gradient is copied, with so many
//   channels that they are, and fill a tile. It would be read element by element (an H200, bf16 NHWC, 8 images of 256 x
//   256, 128 channels, 3 filters: 3316 us).
// - One filter over many channels: no matrix. Vectors of filters are one (bf16 NHWC, 4 of 256 x 256, 64 channels: 634
//   us by threads, 8 filters 48).
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Of a convolution that tensor cores multiply, or the gradient by its filters; of others nothing happens.
void addFilters(Convolution &convolution);
/// Of a gradient by filters in 16 bits, in steps of one: whether its image, which has its channels last now, has as
/// many as fill lines of 128 bytes. That is a third more at most; with columns of the window beside them the image
/// would be several times as long (few_channels.h), and is where tiles have a fifth less to multiply. (An H200, bf16
/// NHWC, 8 of 56 x 56, 96 by 96: 28.9 -> 24.1 us. Windows of 5 x 5, 48 channels: by columns 31.0, 40.0 so; steps of
/// three: 97, 216.)
bool addChannels(Convolution &convolution);

} // namespace tenon::compiler::dispatch
