// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times of commands on a device: an event before the first and one after each, read when all of them are complete. The
// commands of a traced call or command buffer go to a stream one by one, so that each can be timed; an
// untraced one may be a graph, whose commands overlap.
//
// The device's clock is put on the trace's by the event before the first command: the stream is idle then, or the call
// waits for what was there before. Each further time is the one before plus what the driver says lies between, so that
// the single precision of cuEventElapsedTime does not grow into an error.
#pragma once

#include "runtime/cuda/handles.h"
#include "runtime/device/trace.h"

#include <cuda.h>
#include <string>
#include <vector>

namespace tenon::runtime {

class Device;

class StreamTrace {
public:
  /// The device's context is current for the life of this. Records nothing where `device` has no trace or the driver
  /// does not measure.
  StreamTrace(Device &device, CUstream stream);
  bool isActive() const { return trace_ != nullptr; }
  /// The command given to the stream last.
  void command(std::string name, std::string category, Trace::Details details);
  /// Waits for the commands and adds them to the trace. After a fault, which the caller's own next call reports, those
  /// whose times can be read.
  void finish();

private:
  bool record();

  Device &device_;
  CUstream stream_;
  Trace *trace_;
  double anchorUs_ = 0;
  std::vector<cuda::EventHandle> events_; // one more than spans_
  std::vector<Trace::Span> spans_;
};

} // namespace tenon::runtime
