// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of the driver's functions, which functions.inc lists.
#pragma once

#include <string>
#include <vector>

namespace tenon::emulator {

/// Names of the exported functions, without version suffix.
std::vector<std::string> functionNames();

} // namespace tenon::emulator
