// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How semaphores and pools tell a queue's worker thread that something changed. It may outlive the queue.
#pragma once

#include <condition_variable>
#include <mutex>

namespace tenon::runtime {

struct Waker {
  std::mutex mutex; // guards what follows
  std::condition_variable changed;
  bool woken = false, stop = false;

  void wake() {
    std::lock_guard lock(mutex);
    woken = true;
    changed.notify_one();
  }
};

} // namespace tenon::runtime
