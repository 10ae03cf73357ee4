// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races programs that compute the same. Each is called once into memory that no result looks like, and what comes of it
// is compared with the first one's; one that differs takes no part. The others then run in rounds, in a random order in
// each, a batch of calls at a time between two events of the device. A program's time is the median over the rounds, so
// that a clock that changes and a neighbour on the machine meet all of them alike.
#pragma once

#include "runtime/device/device.h"
#include "runtime/executable/executable_options.h"
#include "support/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tuner {

struct Racer {
  std::vector<uint8_t> program; // its function is kTunedFunction
  std::string problem = {};     // set: it takes no part, and why
  bool isWrong = false;         // its results differ from the first one's
  double nanoseconds = 0;       // of a call
};

struct RaceOptions {
  uint32_t rounds = 12;
  int64_t size = 0; // of dimensions that are not known; 0: a program that has any is refused
  runtime::ExecutableOptions images = {};
};

/// Fills what came of each. Errors are those of the first, which all others are compared with; what goes wrong with
/// another one is its problem.
/// @return calls of a batch
Result<uint64_t> race(const std::shared_ptr<runtime::Device> &device, std::vector<Racer> &racers,
                      const RaceOptions &options);

} // namespace tenon::tuner
