// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fake NVTX tool saw: "domain tenon", "push call f", "pop".
#pragma once

#include <string>
#include <vector>

/// Gives the events since the last time.
extern "C" void tenonFakeNvtxTake(std::vector<std::string> *out);
