// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two forms at a time, the second of which takes what the first gives, and often what the first takes: what an
// optimiser makes one instruction of, and it may forget why it could. Seeds in a row go through the pairs of common
// forms; where the second cannot take what the first gives, another one is drawn.
#pragma once

#include "tests/sequences/form_table.h"
#include "tests/sequences/sequence.h"

namespace tenon::sequences {

/// Of these seeds and higher ones.
constexpr uint64_t kSeedsOfPairs = 1ull << 41;

Sequence pairSequence(const std::vector<OpcodeForms> &table, uint64_t seed);

} // namespace tenon::sequences
