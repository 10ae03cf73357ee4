// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lock guards everything the driver keeps: calls from several threads are served one after the other. A call
// that waits gives the lock up meanwhile.
#pragma once

#include <mutex>
#include <thread>

namespace tenon::emulator {

struct DriverLock {
  std::recursive_mutex mutex;
  int depth = 0; // of driver functions that call each other
  std::thread::id lastThread;
  bool hasThreads = false; // several call
};

/// Gives the driver's lock up, however often this thread holds it.
class Unlocked {
public:
  explicit Unlocked(DriverLock &lock) : lock_(lock), depth_(lock.depth) {
    lock_.depth = 0;
    for (int k = 0; k < depth_; ++k)
      lock_.mutex.unlock();
  }
  ~Unlocked() {
    for (int k = 0; k < depth_; ++k)
      lock_.mutex.lock();
    lock_.depth = depth_;
  }
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;

private:
  DriverLock &lock_;
  int depth_;
};

} // namespace tenon::emulator
