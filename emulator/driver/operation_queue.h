// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which enqueued work runs. Every operation knows what it comes after: the one before it in its stream,
// the recording of an event that its stream waits for, the nodes before it in a graph, and what the default stream
// orders. So streams, events and graphs are one graph of operations, and the order is a choice among those that are
// ready:
//
//   eager        each as soon as it can, in the order of the calls: mostly before the call returns
//   lazy         none until something forces it: a synchronise, a query, an event, a copy that the host sees, a free.
//                Work that a program waits for without asking the driver starts after 50 ms without a call
//                (TENON_EMULATOR_IDLE_MILLISECONDS)
//   random:SEED  ready operations of all streams in an order by the seed, some early, some late
//
// Operations run under the driver's lock, except host functions: a thread of the driver calls them, because the program
// may hold a lock that they take. What cannot run yet (a host function that has not returned, a value that is not
// there) is left for later: whoever waits polls, and so does the driver's thread.
#pragma once

#include "emulator/driver/work/work.h"
#include "support/random.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::emulator {

struct Operation {
  enum class State : uint8_t { Waiting, Running, Done };
  Context *context = nullptr;
  Work work;
  std::vector<std::shared_ptr<Operation>> after;
  uint64_t sequence = 0; // of enqueueing: what an operation comes after has a lower one
  uint64_t stream = 0;   // for reports
  uint64_t mark = 0;     // of a walk
  uint64_t time = 0;     // virtual nanoseconds, when done
  State state = State::Waiting;
};
using OperationPtr = std::shared_ptr<Operation>;

inline bool isDone(const OperationPtr &operation) {
  return !operation || operation->state == Operation::State::Done;
}

enum class Order : uint8_t { Eager, Lazy, Random };

class WorkQueue {
public:
  explicit WorkQueue(Driver &driver) : driver_(driver) {}

  /// "eager", "lazy", "random:SEED". False: it is none of them.
  bool setOrder(std::string_view text);
  Order order() const { return order_; }
  uint64_t seed() const { return seed_; }
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
  bool waitsForMemory() const;
  // queue_thread.cpp
  void startThread();
  void threadMain();
  void wake();
  void sleep(unsigned microseconds);

  Driver &driver_;
  Order order_ = Order::Eager;
  SplitMix64 random_{0};
  uint64_t seed_ = 0, sequence_ = 0, marks_ = 0, waits_ = 0;
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
