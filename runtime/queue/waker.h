// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a semaphore tells a queue's worker that something changed; it may outlive the queue.
#pragma once

#include "runtime/queue/submission_queue.h"

namespace tenon::runtime {

struct SubmissionQueue::Waker {
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
