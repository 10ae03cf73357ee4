// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a test asks the emulator that no program asks a GPU: another plan of failures, and what is alive now. Programs
// get these through cuGetProcAddress ("tenonEmulatorSetFailures", ...); none is counted as a call of the driver.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::emulator {

/// What TENON_EMULATOR_FAIL says, from now on; calls are counted from 1 again, "" is no plan. False: it is not
/// understood, and no call fails.
bool setFailures(const char *plan);
/// Calls that failed by the plan since it was set.
uint64_t failuresMade();
/// Name and number of the live objects of kind `index`, over all devices. False: there are no more kinds.
bool liveObjects(size_t index, const char **name, uint64_t *count);

} // namespace tenon::emulator
