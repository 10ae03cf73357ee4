// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution in groups of few channels (dispatch/analysis/convolutions/grouped.h). Per byte of the image there is
// little to multiply, so memory is what counts: a block brings a patch of one image, and all places that its windows
// meet, of several neighbouring groups at once, so that lines of memory are read whole; and the filters of these
// groups.
//
//   patch   [places of the image][groups][channels]     a line for each place, and 16 bytes behind it
//   filters [groups][filters][places of the window][channels]
//
// Channels come in quads: four neighbours of one place of the window, zeros behind a group's last. A step of
// mma.sync multiplies 16 reduced elements; lane l has quad l % 4 of the step of rows l / 4 and l / 4 + 8, results at
// neighbouring places, and of column l / 4, a filter: 8 bytes each, in an order that does not matter to a sum. No step
// has elements of two groups, so no zero of one group's filters meets an infinity of another group's image.
//
// Elsewhere (f32, and what sm_75 and older have no tensor cores for) lanes are places, four each, and a warp has four
// filters, which all its lanes read at once.
#pragma once

#include "compiler/codegen/grouped/form.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kGroupedThreads = 256;

/// Block b computes tile b of the tiles of all images.
void writeGroupedWindows(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                         Bodies &bodies, const GroupedForm &form, const abi::TargetArch &target);

} // namespace tenon::compiler::codegen
