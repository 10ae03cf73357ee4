// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ends a launch from outside: a limit of time, or an interrupt from another thread or a signal handler. Schedulers
// look at it where loops spend their fuel and between blocks.
#pragma once

#include <atomic>
#include <cstdint>

namespace tenon::emulator {

struct RunControl {
  double timeoutSeconds = 0;              // of one launch, on the host's clock; 0: none
  std::atomic<bool> isInterrupted{false}; // the launch that runs is to end
  std::atomic<uint32_t> running{0};       // launches under way
};

} // namespace tenon::emulator
