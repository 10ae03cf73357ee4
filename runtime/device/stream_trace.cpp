// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events around commands.
#include "runtime/device/stream_trace.h"

#include "runtime/device/device.h"

namespace tenon::runtime {

StreamTrace::StreamTrace(Device &device, CUstream stream) : device_(device), stream_(stream), trace_(device.trace()) {
  if (!trace_)
    return;
  const cuda::Driver &driver = device_.driver();
  if (!driver.cuEventElapsedTime || !record() || driver.cuEventSynchronize(events_.front().get()) != CUDA_SUCCESS)
    trace_ = nullptr;
  else
    anchorUs_ = trace_->now();
}

bool StreamTrace::record() {
  const cuda::Driver &driver = device_.driver();
  CUevent event = nullptr;
  if (driver.cuEventCreate(&event, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
    return false;
  events_.emplace_back(driver, event);
  return driver.cuEventRecord(event, stream_) == CUDA_SUCCESS;
}

void StreamTrace::command(std::string name, std::string category, Trace::Details details) {
  if (trace_ && events_.size() == spans_.size() + 1 && record())
    spans_.push_back({.name = std::move(name),
                      .category = std::move(category),
                      .track = device_.description(),
                      .details = std::move(details)});
}

void StreamTrace::finish() {
  const cuda::Driver &driver = device_.driver();
  if (!trace_ || spans_.empty() || driver.cuEventSynchronize(events_[spans_.size()].get()) != CUDA_SUCCESS)
    return;
  double time = anchorUs_;
  for (size_t i = 0; i < spans_.size(); ++i) {
    float milliseconds = 0;
    if (driver.cuEventElapsedTime(&milliseconds, events_[i].get(), events_[i + 1].get()) != CUDA_SUCCESS)
      return;
    spans_[i].beginUs = time;
    spans_[i].endUs = time += double(milliseconds) * 1000;
    trace_->add(std::move(spans_[i]));
  }
  spans_.clear();
}

} // namespace tenon::runtime
