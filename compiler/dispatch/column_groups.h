// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups whose reduced elements are not adjacent in memory: columns. A block computes many of them and sees each
// element in passing, so that what reads an element again is another kernel, unless the threads keep what they have
// read: of columns that are known to be short, or that the program asks about when it runs (whole_or_parts.h).
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"

namespace tenon::compiler::dispatch {

/// On the operations of a group whose columns are kept: it runs only where they are short enough.
inline constexpr llvm::StringLiteral kKeptAttr = "tenon.kept";

/// The axis along which the largest tensor in memory lies, if it is one.
std::optional<unsigned> innerAxisOf(const Group &group);
/// Neighbours in memory belong to different results, so a block computes many results at once.
bool runsAcrossRows(const Group &group);
/// Whether such a group is one kernel; otherwise why not.
/// @param keepsUnknown as if columns of unknown length were short
bool takesOneStep(const Group &group, bool keepsUnknown, std::string &reason);
/// Up to so many rows of an unknown number the group is one kernel; nothing: it is one of any number, or of none.
std::optional<int64_t> mostKeptRows(const Group &group);

} // namespace tenon::compiler::dispatch
