// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs sequences on a driver, and compares what two drivers gave.
#pragma once

#include "tests/kernels/driver.h"
#include "tests/sequences/sequence.h"

#include <optional>

namespace tenon::sequences {

struct Outcome {
  CUresult status = CUDA_SUCCESS;
  std::string log;              // of the loader, where it refused
  std::vector<uint64_t> values; // store after store, kThreads of each
};

/// All in one module. A module that is refused is loaded in halves, so that one bad kernel spoils no other. `level`:
/// of the JIT compiler's optimisation; 4 is its default.
std::vector<Outcome> runSequences(const kernels::Driver &driver, const std::vector<const Sequence *> &sequences,
                                  unsigned level = 4);

/// Where two answers differ first.
struct Difference {
  size_t store = 0;
  unsigned thread = 0;
};
std::optional<Difference> differenceOf(const Sequence &sequence, const Outcome &a, const Outcome &b);

/// Of everything that has to be the same in every bit.
uint64_t hashOfAnswer(const Sequence &sequence, const Outcome &outcome);

} // namespace tenon::sequences
