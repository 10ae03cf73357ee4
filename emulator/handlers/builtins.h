// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that device code may call without defining them: vprintf, __assertfail, malloc, free. Arguments are
// read from the caller's .param variables as the PTX ABI lays them out.
#pragma once

#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/machine.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace tenon::emulator {

enum class Builtin : uint32_t { None, Printf, AssertFail, Malloc, Free };
/// None: not a function that the device provides.
Builtin findBuiltin(std::string_view name);

/// What builtins need of the world outside of the launch.
struct DeviceServices {
  FILE *printfStream = nullptr; // null: stdout
  uint64_t heapLimit = 8ull << 20;
  uint64_t heapUsed = 0;
};

/// Calls a builtin for the lanes of `mask`.
void callBuiltin(Warp &warp, const Decoded &instruction, const CallSite &site, uint32_t mask, DeviceServices &services);

} // namespace tenon::emulator
