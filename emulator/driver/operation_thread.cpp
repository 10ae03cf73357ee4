// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thread of the queue: it calls host functions, which may take locks that callers of the driver hold, and runs what
// no call waits for. How it and the calls that wait for it sleep and wake.
#include "emulator/driver/context.h"
#include "emulator/driver/operation_queue.h"

#include <chrono>
#include <thread>
#include <unistd.h>

namespace tenon::emulator {

static bool &hostFunctionFlag() {
  thread_local bool inside = false;
  return inside;
}

bool OperationQueue::inHostFunction() {
  return hostFunctionFlag();
}

void OperationQueue::wake() {
  {
    std::lock_guard<std::mutex> lock(wakeMutex_);
    ++wakes_;
  }
  wakeup_.notify_all();
}

void OperationQueue::sleep(unsigned microseconds) {
  std::unique_lock<std::mutex> lock(wakeMutex_, std::defer_lock);
  lock.lock();
  uint64_t seen = wakes_;
  lock.unlock();
  Unlocked unlocked(lock_);
  lock.lock();
  wakeup_.wait_for(lock, std::chrono::microseconds(microseconds), [&] { return wakes_ != seen; });
  lock.unlock();
}

void OperationQueue::startThread() {
  int process = static_cast<int>(getpid());
  if (threadOf_ == process)
    return;
  threadOf_ = process;
  std::thread([this] { threadMain(); }).detach();
}

/// Calls host functions, in order, one at a time. Runs what became ready after them, what waited for a value in memory,
/// and, when the order is lazy or random, work that no call has forced for a while.
void OperationQueue::threadMain() {
  std::unique_lock<std::recursive_mutex> lock(lock_.mutex);
  for (;;) {
    while (!hostFunctions_.empty()) {
      OperationPtr operation = hostFunctions_.front();
      hostFunctions_.pop_front();
      ++hostRunning_;
      CUresult status = static_cast<CUresult>(operation->context->sticky);
      lock.unlock();
      hostFunctionFlag() = true;
      operation->callHostFunction(status);
      hostFunctionFlag() = false;
      lock.lock();
      --hostRunning_;
      complete(*operation);
      sweep();
      if (order_ == Order::Eager)
        runReady();
      wake();
    }
    bool memory = anyWatchesMemory();
    if (memory && order_ == Order::Eager && runReady())
      wake();
    if (order_ != Order::Eager && !pending_.empty()) {
      if (calls_ == callsSeen_ && (order_ == Order::Random ? runRandom() : runReady()))
        wake();
      else
        callsSeen_ = calls_;
    }
    std::chrono::microseconds pause(memory && order_ == Order::Eager ? kPollMicroseconds : idleMicroseconds_);
    bool work = !hostFunctions_.empty(), patient = pending_.empty();
    std::unique_lock<std::mutex> sleeping(wakeMutex_);
    uint64_t seen = wakes_;
    lock.unlock();
    auto woken = [&] { return wakes_ != seen; };
    if (!work && patient)
      wakeup_.wait(sleeping, woken);
    else if (!work)
      wakeup_.wait_for(sleeping, pause, woken);
    sleeping.unlock();
    lock.lock();
  }
}

} // namespace tenon::emulator
