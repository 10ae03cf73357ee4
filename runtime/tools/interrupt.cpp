// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace tenon::runtime {
namespace {

constexpr int kInterruptStatus = 130; // 128 + SIGINT, as shells count

// A signal handler has nothing else to go by.
std::atomic<bool (*)()> endLaunch = nullptr;
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool (*)()>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void onInterrupt(int) {
  bool (*end)() = endLaunch;
  if (interrupted.exchange(true) || !end || !end())
    _exit(kInterruptStatus);
}

/// Runs behind main, whatever that returned.
void leaveWithStatus() {
  if (!interrupted)
    return;
  std::fflush(nullptr);
  _exit(kInterruptStatus);
}

} // namespace

void reportOnInterrupt(const Device &device) {
  if (!device.driver().interrupt)
    return;
  const bool isFirst = endLaunch.exchange(device.driver().interrupt) == nullptr;
  if (!isFirst)
    return;
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  std::atexit(leaveWithStatus);
}

bool isInterrupted() {
  return interrupted;
}

} // namespace tenon::runtime
