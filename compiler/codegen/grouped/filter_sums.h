// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient by the filters of a convolution in groups of few channels
// (dispatch/analysis/convolutions/grouped_filters.h). What is summed over is long, all places of some images, and
// results are few: a block has those of as many groups as fill a line of 64 bytes, in its registers, and takes one tile
// of places after the other, the next one on its way:
//
//   patch    [places of the image][groups][channels]     a line for each place, and 16 bytes behind it
//   gradient [places of the tile][groups][filters]       the same
//   zeros                                                a line of them, for places that are none
//
// A step of mma.sync sums over 16 places: of 16 neighbouring filters, from the gradient, and 8 neighbouring channels,
// from the patch, as many positions further as the place of the window is. Both lie across and are turned on their way
// to registers (ldmatrix), whose rows may begin at any position, so windows step and are dilated for nothing. Where
// groups are smaller than that, the results of filters of one and channels of another are left: no sum that is kept has
// an element of two groups. Places that are none are zeros on both sides.
//
// Where a target has no tensor cores for the type, a thread has some filters and channels and takes place after place.
#pragma once

#include "compiler/codegen/grouped/filter_form.h"

namespace tenon::compiler::codegen {

/// Block b computes line b % lines of part b / lines.
void writeGroupedFilters(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                         Bodies &bodies, const GroupedFilterForm &form, const abi::TargetArch &target);

} // namespace tenon::compiler::codegen
