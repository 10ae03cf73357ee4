// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runs of the scenario load.
#pragma once

#include "conformance/fixture.h"
#include "program_builder.h"

#include <vector>

namespace tenon::faults {

/// Bytes of executables and of a program.
struct Inputs {
  std::vector<uint8_t> executable; // of the conformance kernels
  std::vector<uint8_t> launches;   // the same with a cluster, a cooperative launch, and more shared memory than default
  std::vector<uint8_t> program;
};
Result<Inputs> makeInputs();

} // namespace tenon::faults
