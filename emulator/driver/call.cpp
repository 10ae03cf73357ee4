// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/call.h"

#include "emulator/driver/function_names.h"

#include <cstdlib>

namespace tenon::emulator {

DriverCall::DriverCall(Driver &driver, const char *function) : lock_(driver.lock.mutex), driver_(driver) {
  if (!driver.faultsRead) {
    driver.faultsRead = true;
    if (const char *text = getenv("TENON_EMULATOR_FAIL"))
      driver.faultsWrong = driver.faults.parse(text, functionNames());
  }
  if (std::thread::id thread = std::this_thread::get_id(); thread != driver.lock.lastThread) {
    driver.lock.hasThreads |= driver.lock.lastThread != std::thread::id();
    driver.lock.lastThread = thread;
  }
  if (driver.lock.depth++ != 0)
    return;
  driver.function = function;
  if (!driver.faults.empty())
    injected_ = driver.faults.call(function);
}

} // namespace tenon::emulator
