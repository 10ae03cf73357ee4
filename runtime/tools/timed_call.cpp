// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of the first call are the memory of all later ones.
#include "runtime/tools/timed_call.h"

#include "runtime/device/device.h"

namespace tenon::runtime {

Result<std::unique_ptr<TimedCall>> TimedCall::create(Program &program, uint32_t function, std::vector<Value> inputs) {
  std::unique_ptr<TimedCall> timed(new TimedCall(program, function, std::move(inputs)));
  TENON_RETURN_IF_ERROR(timed->call());
  TENON_RETURN_IF_ERROR(timed->prepare());
  return timed;
}

Status TimedCall::prepare() {
  cuda::ContextScope scope = program_.device().enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = program_.device().driver();
  TENON_ASSIGN_OR_RETURN(stream_, cuda::createStream(driver));
  for (cuda::EventHandle *timed : {&begin_, &end_}) {
    CUevent event = nullptr;
    TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate"));
    *timed = cuda::EventHandle(driver, event);
  }
  return okStatus();
}

TimedCall::~TimedCall() {
  cuda::ContextScope scope = program_.device().enter();
  if (stream_)
    (void)wait(); // calls of a batch that broke off still write the results
  begin_ = {};
  end_ = {};
  stream_ = {};
}

uint64_t TimedCall::bytes() const {
  uint64_t sum = 0;
  for (const std::vector<Value> *values : {&inputs_, &results_})
    for (const Value &value : *values)
      if (const Tensor *tensor = std::get_if<Tensor>(&value))
        if (Result<uint64_t> size = denseBytes(tensor->shape, tensor->element); size.ok())
          sum += *size;
  return sum;
}

Status TimedCall::call() {
  return program_.callInto(function_, inputs_, results_);
}

Status TimedCall::enqueue(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    TENON_RETURN_IF_ERROR(program_.callInto(function_, inputs_, results_, {.stream = stream_.get()}));
  return okStatus();
}

Status TimedCall::wait() {
  const cuda::Driver &driver = program_.device().driver();
  return cuda::driverStatus(driver, driver.cuStreamSynchronize(stream_.get()), "cuStreamSynchronize");
}

Status TimedCall::callMany(uint64_t count) {
  cuda::ContextScope scope = program_.device().enter();
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_RETURN_IF_ERROR(enqueue(count));
  return wait();
}

Status TimedCall::record(const cuda::EventHandle &event) {
  const cuda::Driver &driver = program_.device().driver();
  return cuda::driverStatus(driver, driver.cuEventRecord(event.get(), stream_.get()), "cuEventRecord");
}

Result<double> TimedCall::deviceSeconds(uint64_t count) {
  cuda::ContextScope scope = program_.device().enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = program_.device().driver();
  if (!driver.cuEventElapsedTime_v2)
    return makeError(StatusCode::Unimplemented,
                     "the driver has no cuEventElapsedTime_v2 (CUDA 12.8): device times cannot be measured");
  TENON_RETURN_IF_ERROR(record(begin_));
  TENON_RETURN_IF_ERROR(enqueue(count));
  TENON_RETURN_IF_ERROR(record(end_));
  TENON_RETURN_IF_ERROR(wait());
  float milliseconds = 0;
  TENON_RETURN_IF_ERROR(cuda::driverStatus(
      driver, driver.cuEventElapsedTime_v2(&milliseconds, begin_.get(), end_.get()), "cuEventElapsedTime_v2"));
  return double(milliseconds) / 1000;
}

} // namespace tenon::runtime
