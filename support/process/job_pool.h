// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jobs that run side by side while one thread makes them. The thread that adds a job does it itself where enough are
// waiting already, so that few are kept in memory, and one core needs no other thread at all.
#pragma once

#include "support/process/large_stack.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace tenon {

class JobPool {
public:
  /// @param threads that work, the caller's among them; 0: one per core. None is started before there is a job for it;
  ///        where the system gives fewer, fewer work.
  /// @param stackBytes of each thread that is started
  JobPool(size_t threads, size_t stackBytes);
  /// Waits for every job.
  ~JobPool();

  /// `job` runs on some thread, perhaps on this one before add() returns. Called by one thread.
  void add(std::function<void()> job);
  /// Works until every job is done. More can be added afterwards.
  void wait();

private:
  void work();
  bool runOne(std::unique_lock<std::mutex> &lock);

  size_t most_;
  size_t stackBytes_;
  std::vector<LargeStackThread> started_; // of the thread that adds
  bool noMoreThreads_ = false;            // the system gave none
  std::mutex mutex_;                      // guards what follows
  std::condition_variable waiting_;       // there is a job, or the pool ends
  std::condition_variable done_;          // none is running
  std::deque<std::function<void()>> jobs_;
  size_t running_ = 0, idle_ = 0;
  bool isEnding_ = false;
};

} // namespace tenon
