// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sequence from a seed: the same seed and table give the same kernel and the same inputs everywhere.
#pragma once

#include "tests/sequences/form_table.h"
#include "tests/sequences/sequence.h"

namespace tenon::sequences {

Sequence randomSequence(const std::vector<OpcodeForms> &table, uint64_t seed);

/// kThreads tuples of inputs: edges of the types, small numbers and random bits.
std::vector<uint64_t> inputsOf(const Sequence &sequence);

} // namespace tenon::sequences
