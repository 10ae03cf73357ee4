// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One piece of enqueued work and what it comes after: the one before it in its stream, the recording of an event that
// its stream waits for, the nodes before it in a graph. What an operation does when it runs is decided by a class
// derived from it (work/work_operation.h); the queue only orders.
#pragma once

#include "emulator/machine/machine.h"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::emulator {

struct Context;

struct Operation {
  enum class State : uint8_t { Waiting, Running, Done };

  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  /// All that it comes after is done. False: a value in memory that it waits for is not there yet.
  virtual bool canRun() const = 0;
  /// False: it stopped at a value in memory that is not there yet, and has to be run again.
  virtual bool run(Fault &fault) = 0;
  /// Reports a fault and makes the context return its code from now on.
  virtual void fail(const Fault &fault) = 0;
  /// It is done: what it held is given back.
  virtual void release() = 0;
  /// A host function is not run but called, by the thread of the queue and without the driver's lock.
  virtual bool isHostFunction() const = 0;
  virtual void callHostFunction(CUresult status) = 0;
  /// It waits for values in memory, which may be written without a call of the driver.
  virtual bool watchesMemory() const = 0;
  /// "wait for the 32-bit value at 0x... >= 0x4, it is 0x0": for the report of a deadlock. Of one that watches memory.
  virtual std::string describeWait() const = 0;

  Context *context = nullptr;
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

} // namespace tenon::emulator
