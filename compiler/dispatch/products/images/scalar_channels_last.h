// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of exact f32, which threads multiply, of images whose channels come first. Threads bring vectors of a
// row of places where a tile's rows are whole; where tiles cut rows, where windows step, and of gradients by filters,
// channels last are read in whole vectors, and places of all images are rows of one side. The result then has its
// channels last, too, and is turned behind.
//
// An H200: 32 images of 28 x 28 places, 128 channels, by data 208 -> 181 us.
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Where that is faster than what the copies take; of other convolutions nothing happens.
void bringScalarChannelsLast(const Convolution &convolution);

} // namespace tenon::compiler::dispatch
