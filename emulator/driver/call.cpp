// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/call.h"

#include "emulator/driver/function_names.h"

#include <cstdlib>

namespace tenon::emulator {

DriverCall::DriverCall(Driver &driver, const char *function) : lock_(driver.lock.mutex), driver_(driver) {
  if (!driver.failuresRead) {
    driver.failuresRead = true;
    if (const char *text = getenv("TENON_EMULATOR_FAIL"))
      driver.failuresWrong = driver.failures.parse(text, functionNames());
  }
  if (std::thread::id thread = std::this_thread::get_id(); thread != driver.lock.lastThread) {
    driver.lock.hasThreads |= driver.lock.lastThread != std::thread::id();
    driver.lock.lastThread = thread;
  }
  if (driver.lock.depth++ != 0)
    return;
  driver.function = function;
  if (!driver.failures.empty())
    injected_ = driver.failures.call(function);
}

} // namespace tenon::emulator
