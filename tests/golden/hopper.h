// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What needs a kernel of its own: the shared memory that tensor loads leave (tests/kernels/hopper_cases.h), and sums of
// wgmma with numbers that do not add up exactly. The kernels are tests/kernels/hopper.cu, for sm_90a.
#pragma once

#include "tests/golden/golden_file.h"

#include <string>
#include <vector>

namespace tenon::golden {

/// "hopper u8_128b", "hopper sum_wgmma_f16", ...: the names of the entries.
std::vector<std::string> hopperEntries();

/// Whether the answer may differ: sums of 8-bit numbers, which a device adds with fewer bits than it documents.
bool isApproximateHopper(const std::string &entry);

/// Asks the driver at hand. Empty on success, else what is wrong.
std::string runHopper(const std::string &entry, Recorded &recorded);

} // namespace tenon::golden
