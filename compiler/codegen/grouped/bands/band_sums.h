// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of each channel for itself on tensor cores (band_form.h): a block keeps the bands of its channels in
// registers, a warp those of 8 or 4, and goes down one tile of the image after the other.
//
//   rows  [periods of the ring][rows][images][places][channels]   as they lie in memory, and some room behind each
//   place sums  [2][places of results][pairs of channels][lines][2]     f32, from which vectors of channels are stored
//
// While a period is summed, the next ones are on their way, and the lines that the one before has finished are stored.
// A lane that finds sums that are not finite computes its own again by plain multiplications.
#pragma once

#include "compiler/codegen/grouped/bands/band_form.h"

namespace tenon::compiler::codegen {

/// Block b has chunk b % chunks of the channels, and the b / chunks-th part of the pairs of lines (pairsOfBlock).
void writeBandSums(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                   Bodies &bodies, const KernelArguments &arguments, const BandForm &form);

} // namespace tenon::compiler::codegen
