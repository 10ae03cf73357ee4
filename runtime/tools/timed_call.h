// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of a function, made again and again in the three ways in which its time is asked for:
//
//   latency       the host's time of a call that is waited for
//   throughput    the host's time of many calls, given to a stream one after another and then waited for
//   device time   the time between two events on the stream, around many calls
//
// All calls have the same inputs and write the same results, so that after the first one nothing is allocated.
#pragma once

#include "runtime/program/program.h"

namespace tenon::runtime {

class TimedCall {
public:
  /// Makes the first call, which loads kernels and uploads constants, and waits for it. `program` is borrowed.
  /// Errors of the call; Unavailable and so on where there is no stream or event.
  static Result<std::unique_ptr<TimedCall>> create(Program &program, uint32_t function, std::vector<Value> inputs);
  ~TimedCall();
  TimedCall(const TimedCall &) = delete;
  TimedCall &operator=(const TimedCall &) = delete;

  std::string name() const { return program_.function(function_).name()->str(); }
  /// Bytes of the tensors that go in and come out; what kernels really move may be less or more.
  uint64_t bytes() const;

  /// A call, waited for.
  Status call();
  /// `count` calls on a stream of their own, then the wait.
  Status callMany(uint64_t count);
  /// Seconds between the events before and after `count` calls on that stream. Where the host gives calls to the stream
  /// more slowly than the device runs them, that is the host's time. Unimplemented: the driver has no
  /// cuEventElapsedTime_v2.
  Result<double> deviceSeconds(uint64_t count);

private:
  TimedCall(Program &program, uint32_t function, std::vector<Value> inputs)
      : program_(program), function_(function), inputs_(std::move(inputs)) {}
  Status prepare();
  Status enqueue(uint64_t count);
  Status wait();
  Status record(const cuda::EventHandle &event);

  Program &program_;
  uint32_t function_;
  std::vector<Value> inputs_, results_;
  cuda::StreamHandle stream_;
  cuda::EventHandle begin_, end_;
};

} // namespace tenon::runtime
