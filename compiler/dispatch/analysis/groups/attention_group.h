// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups that are an attention or a chain: products, the last of which reads weights that are computed from the others.
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"

#include <string>

namespace tenon::compiler::dispatch {

/// Whether the group, which holds a linalg.softmax, is an attention, or, which holds `chained`, a chain; sets which of
/// its axes are reduced. False: `reason` says why not.
bool completesAttention(Group &group, std::string &reason);

} // namespace tenon::compiler::dispatch
