// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's lock, given up for a while by whoever waits in a call.
#pragma once

#include "emulator/driver/state.h"

namespace tenon::emulator {

/// Gives the driver's lock up, however often this thread holds it.
class Unlocked {
public:
  explicit Unlocked(Driver &driver) : driver_(driver), depth_(driver.depth) {
    driver_.depth = 0;
    for (int k = 0; k < depth_; ++k)
      driver_.mutex.unlock();
  }
  ~Unlocked() {
    for (int k = 0; k < depth_; ++k)
      driver_.mutex.lock();
    driver_.depth = depth_;
  }
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;

private:
  Driver &driver_;
  int depth_;
};

} // namespace tenon::emulator
