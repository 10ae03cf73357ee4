// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/job_pool.h"

#include <algorithm>
#include <thread>

namespace tenon {

JobPool::JobPool(size_t threads, size_t stackBytes)
    : most_(threads ? threads : std::max(1u, std::thread::hardware_concurrency())), stackBytes_(stackBytes) {}

JobPool::~JobPool() {
  wait();
  {
    std::lock_guard lock(mutex_);
    isEnding_ = true;
  }
  waiting_.notify_all();
  started_.clear(); // joins
}

void JobPool::add(std::function<void()> job) {
  bool needsThread = false;
  {
    std::unique_lock lock(mutex_);
    jobs_.push_back(std::move(job));
    needsThread = jobs_.size() > idle_ && started_.size() + 1 < most_ && !noMoreThreads_;
  }
  if (needsThread) {
    Result<LargeStackThread> thread = LargeStackThread::start(stackBytes_, [this] { work(); });
    if (thread.ok())
      started_.push_back(thread.take());
    else
      noMoreThreads_ = true;
  }
  waiting_.notify_one();
  std::unique_lock lock(mutex_);
  while (jobs_.size() > 2 * started_.size())
    runOne(lock);
}

void JobPool::wait() {
  std::unique_lock lock(mutex_);
  while (runOne(lock)) {
  }
  done_.wait(lock, [this] { return running_ == 0; });
}

/// The oldest job, with the lock released meanwhile. False: none is waiting.
bool JobPool::runOne(std::unique_lock<std::mutex> &lock) {
  if (jobs_.empty())
    return false;
  std::function<void()> job = std::move(jobs_.front());
  jobs_.pop_front();
  ++running_;
  lock.unlock();
  job();
  job = nullptr; // what it holds goes before it counts as done
  lock.lock();
  if (--running_ == 0 && jobs_.empty())
    done_.notify_all();
  return true;
}

void JobPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    waiting_.wait(lock, [this] { return isEnding_ || !jobs_.empty(); });
    --idle_;
    if (!runOne(lock))
      return; // ending
  }
}

} // namespace tenon
