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

} // namespace tenon::compiler::dispatch
