// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a sequence smaller as long as it stays interesting.
#pragma once

#include "tests/sequences/sequence.h"

#include <functional>

namespace tenon::sequences {

/// Fewer stores, fewer steps, none inside of others, until nothing that can be left out is left or `tries` are used up.
Sequence shrink(Sequence sequence, const std::function<bool(const Sequence &)> &isInteresting, unsigned tries);

} // namespace tenon::sequences
