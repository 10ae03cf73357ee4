// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of each channel for itself on tensor cores (band_form.h): a block keeps the bands of its channels in
// registers, a warp those of a few, and takes one patch of the image after the other.
//
//   patch [channels][images][rows][places]   channels lie apart, so that neighbouring places are one word
//   sums  [results][channels]                f32, from which vectors of channels are stored
//
// While a patch's sums are stored the next patch is on its way to registers. A warp that finds sums that are not finite
// computes all of its own again by plain multiplications.
#pragma once

#include "compiler/codegen/grouped/band_form.h"

namespace tenon::compiler::codegen {

/// Block b has chunk b % chunks of the channels, and the b / chunks-th part of the patches.
void writeBandSums(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                   Bodies &bodies, const BandForm &form);

} // namespace tenon::compiler::codegen
