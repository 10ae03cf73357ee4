// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/driver.h"

#include "emulator/driver/context.h"
#include "emulator/driver/device.h"

namespace tenon::emulator {

Driver::Driver() = default;
Driver::~Driver() = default;

// The driver API is a process-wide state by definition: this is the one place that holds it.
Driver &driver() {
  static Driver *instance = new Driver; // never destroyed: programs call the driver from destructors
  return *instance;
}

bool &forkedFlag() {
  static bool forked = false;
  return forked;
}

Device *findDevice(CUdevice ordinal) {
  const auto &devices = driver().devices;
  return ordinal >= 0 && static_cast<size_t>(ordinal) < devices.size() ? devices[static_cast<size_t>(ordinal)].get()
                                                                       : nullptr;
}

Context *findContext(CUcontext handle) {
  Context *context = reinterpret_cast<Context *>(handle);
  return driver().contexts.count(context) && context->active ? context : nullptr;
}

std::vector<Context *> &contextStack() {
  thread_local std::vector<Context *> stack;
  return stack;
}

Context *currentContext() {
  std::vector<Context *> &stack = contextStack();
  if (stack.empty() || !stack.back())
    return nullptr;
  Context *context = stack.back();
  return driver().contexts.count(context) && context->active ? context : nullptr;
}

void markLost(Context *context, int code) {
  Driver &driver = tenon::emulator::driver();
  context->sticky = code;
  if (!driver.faultsEndProcess)
    return;
  if (!driver.lost)
    driver.lost = code;
  for (Context *other : driver.contexts)
    if (other->active && !other->sticky)
      other->sticky = code;
}

} // namespace tenon::emulator
