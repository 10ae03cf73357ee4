// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which operations run. Each knows what it comes after, so streams, events and graphs are one graph of
// operations, and the order is a choice among those that are ready:
//
//   eager        each as soon as it can, in the order of the calls: mostly before the call returns
//   lazy         none until something forces it: a synchronise, a query, an event, a copy that the host sees, a free.
//                Work that a program waits for without asking the driver starts after 50 ms without a call
//                (TENON_EMULATOR_IDLE_MILLISECONDS)
//   random:SEED  ready operations of all streams in an order by the seed, some early, some late
//
// Operations run under the driver's lock, except host functions: the queue's thread calls them, because the program may
// hold a lock that they take. What cannot run yet (a host function that has not returned, a value that is not there) is
// left for later: a call that waits polls, and so does the thread.
#pragma once

#include "emulator/driver/driver_lock.h"
#include "emulator/driver/operation.h"
#include "emulator/driver/settings.h"

#include "support/random.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

namespace tenon::emulator {

class OperationQueue {
public:
  explicit OperationQueue(DriverLock &lock) : lock_(lock) {}

  void setOrder(const RunOrder &order);
  Order order() const { return order_; }
  /// A number by the seed; 0 unless the order is random.
  uint64_t random();

  /// Takes an operation whose `after` is set; runs it now or later.
  void submit(const OperationPtr &operation);
  /// Runs until the operation is done, giving the lock up while nothing can. Returns the context's error, or
  /// CUDA_ERROR_LAUNCH_TIMEOUT after a report when nothing has happened for too long.
  CUresult finish(const OperationPtr &operation);
  /// All work of the context (null: of every context).
  CUresult finishAll(Context *context);
  /// A query: lazy work makes a step, so that asking again and again comes to an end. True: the operation is done.
  bool poll(const OperationPtr &operation);
  /// Forgets what has not begun, and waits for the host function that has.
  void drop(Context *context);
  bool idle() const { return pending_.empty(); }
  /// Virtual time, which operations are stamped with when they are done: emulated work takes `nanoseconds`.
  void advanceTime(uint64_t nanoseconds) { time_ += nanoseconds; }

  /// True in a thread that is inside of a host function: the driver refuses its calls.
  static bool inHostFunction();

private:
  static constexpr unsigned kPollMicroseconds = 200;

  bool ready(Operation &operation);
  void run(const OperationPtr &operation);
  void complete(Operation &operation);
  bool runReady(Context *only = nullptr);
  bool runRandom();
  bool runTowards(const OperationPtr &target);
  void collect(const OperationPtr &target, std::vector<OperationPtr> &out);
  void sweep();
  CUresult reportStuck(const OperationPtr &target);
  bool anyWatchesMemory() const;
  // operation_thread.cpp
  void startThread();
  void threadMain();
  void wake();
  void sleep(unsigned microseconds);

  DriverLock &lock_;
  Order order_ = Order::Eager;
  SplitMix64 random_{0};
  uint64_t time_ = 0, sequence_ = 0, marks_ = 0, waits_ = 0;
  std::vector<OperationPtr> pending_; // by sequence; done ones are swept
  std::deque<OperationPtr> hostFunctions_;
  unsigned hostRunning_ = 0;
  int threadOf_ = 0; // process whose thread it is: a fork leaves it behind
  uint64_t calls_ = 0, callsSeen_ = 0;
  unsigned idleMicroseconds_ = 50000; // without a call, before lazy and random work starts by itself
  std::mutex wakeMutex_;
  std::condition_variable wakeup_;
  uint64_t wakes_ = 0;
};

} // namespace tenon::emulator
