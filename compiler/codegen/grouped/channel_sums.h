// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient by the filters of a convolution of each channel for itself (dispatch/analysis/convolutions/
// channel_filters.h), channels last. All there is to do is to read two tensors once, and to multiply each element of
// the gradient with what its window meets. So a thread has all results of one or two channels in registers, and goes
// down patches of the gradient:
//
//     image        gradient       a line of the image is read once, and multiplied with all lines of the gradient whose
//     . . . . . .                 windows it lies in; a place of it with all places of these
//     . . . . . .   x x x x
//     . . . . . .   x x x x       results: [places of the window] of each channel
//     . . . . . .
//
// Neighbouring threads have neighbouring channels: they read lines of memory. The threads of a block that have the same
// channels add up what they have, in order, through shared memory.
#pragma once

#include "compiler/codegen/grouped/channel_form.h"

namespace tenon::compiler::codegen {

/// Block b computes chunk b % chunks of the channels, of part b / chunks.
void writeChannelFilters(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                         Bodies &bodies, const ChannelForm &form);

} // namespace tenon::compiler::codegen
