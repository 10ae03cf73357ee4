// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/event.h"

#include "emulator/driver/driver.h"

namespace tenon::emulator {

Event *findEvent(CUevent handle) {
  Event *event = reinterpret_cast<Event *>(handle);
  return driver().events.count(event) ? event : nullptr;
}

} // namespace tenon::emulator
