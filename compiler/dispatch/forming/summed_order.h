// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order gradients by filters are stored. Such a product multiplies tiles of the image's windows, whose columns
// are the filter's elements [r, s, c]: its neighbours are channels, which are neighbours of the image, too, and come to
// shared memory as vectors. An operation behind it that has its result in another order, [c, r, s], would give the
// kernel columns whose neighbours are places of the window: each element would come alone. The gradient is small, so a
// kernel of its own turns it (products/images/channels_last.h). Nor is the result of a product of tf32 turned whose
// rows are the places of images that are no rows at vectors, such as 7 x 7.
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"

#include <string>

namespace tenon::compiler::dispatch {

/// Whether each result of a group with a gradient by filters that is read outside lies as the gradient is summed; of
/// other groups, true.
/// @param reason why not
bool storesAsSummed(const Group &group, std::string &reason);

} // namespace tenon::compiler::dispatch
