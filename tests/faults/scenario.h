// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run through the runtime that calls every driver function it has: a device is opened, code loaded, command buffers
// recorded and submitted between semaphores, programs called, memory allocated and returned, everything let go.
//
// A step that fails is tried again: of one fault, the runtime's objects must have kept nothing. A step makes what it
// waits for itself, so that a second try starts anew.
#pragma once

#include "inputs.h"

#include <string>
#include <vector>

namespace tenon::faults {

struct Outcome {
  std::vector<std::string> errors; // what steps said: "step: message"
  std::string wrong;               // what must not be: a second failure, a wrong result, a semaphore that is neither
};
/// Runs it once on a device of `search`, everything let go at the end.
Outcome runScenario(const Inputs &inputs, const runtime::cuda::DriverSearch &search);

} // namespace tenon::faults
