// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sequence from a seed: the same seed and table give the same kernel and the same inputs everywhere.
#pragma once

#include "tests/sequences/form_table.h"
#include "tests/sequences/sequence.h"

namespace tenon::sequences {

/// Sequences of these seeds and higher ones (up to those of pair_sequence.h) repeat a few forms of one width. What
/// ptxas makes one instruction of is three or four of these in a row, which seldom come together where all forms do.
constexpr uint64_t kSeedsOfFewForms = 1ull << 40;

Sequence randomSequence(const std::vector<OpcodeForms> &table, uint64_t seed);

/// kThreads tuples of inputs: edges of the types, small numbers and random bits.
std::vector<uint64_t> inputsOf(const Sequence &sequence);

} // namespace tenon::sequences
