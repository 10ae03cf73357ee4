// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scatter whose updates are sorted by the slice that they name (dispatch/sorted_scatters.h). Updates of one slice are
// a run of places in that order, and a thread walks a tile of places for one element of their slices. Where a value is
// combined with what stands there:
//
//   tiles    combines the updates of each run in the tile. A run that begins there is combined into the tensor; what
//            goes on from the tile before is left in scratch memory
//   ends     of a run that goes on behind its tile: what later tiles left of it is combined into the tensor
//
// Where the last update stays, each place that is the last of its run is stored. Sums are trees whose form the shape
// alone decides; those of f16 and bf16 are kept in f32.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

/// Adds the kernels behind the one that copies what is scattered into.
void addSortedScatter(AlongPlans &plans, const KernelFunction &kernel);

/// Whether a kernel is one of those; writes it.
bool isSortedScatter(const AlongWriter &writer);
void writeSortedScatter(AlongWriter &writer);

} // namespace tenon::compiler::codegen
