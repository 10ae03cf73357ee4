// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a race found, as an entry of a tuning file: the choice, and beside it on which machine it took how long, what
// the compiler's model would have chosen, and all others.
#pragma once

#include "compiler/candidates.h"
#include "compiler/codegen/tuning/tuning_file.h"
#include "tuner/race.h"

namespace tenon::tuner {

using compiler::Contraction, compiler::codegen::TileChoice;

struct Measured {
  std::string machine;
  uint64_t rounds = 0, calls = 0; // calls of a batch, one in each round
  int64_t size = 0;               // that stood for sizes that are not known; 0: there are none
};

/// The fastest choice, if it is that by more than 1 %; else the model's, so that noise moves nobody.
/// @param racers the model's first, then those of `choices`, in their order
/// @return the position in `racers`
size_t winnerOf(const std::vector<Racer> &racers);

/// @param choices [racers] the first may be nothing, where the model has several kernels
compiler::codegen::TuningEntry entryOf(const Contraction &contraction, abi::TargetArch target,
                                       const std::vector<std::optional<TileChoice>> &choices,
                                       const std::vector<Racer> &racers, size_t winner, const Measured &how);

/// `entries` take the place of those of `known` that are about the same.
std::vector<compiler::codegen::TuningEntry> merged(std::vector<compiler::codegen::TuningEntry> known,
                                                   std::vector<compiler::codegen::TuningEntry> entries);

} // namespace tenon::tuner
