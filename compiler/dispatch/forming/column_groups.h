// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups whose reduced elements are not adjacent in memory: columns. A block computes many of them and sees each
// element in passing, so that what reads an element again is another kernel, unless columns are so short that the
// threads keep what they have read.
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"

#include <optional>
#include <string>

namespace tenon::compiler::dispatch {

/// The axis along which the largest tensor in memory lies, if it is one.
std::optional<unsigned> innerAxisOf(const Group &group);
/// Neighbours in memory belong to different results, so a block computes many results at once.
bool runsAcrossRows(const Group &group);
/// Whether such a group is one kernel; otherwise why not.
bool takesOneStep(const Group &group, std::string &reason);

} // namespace tenon::compiler::dispatch
