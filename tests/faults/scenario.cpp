// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/transfer.h"
#include "scenario_run.h"

namespace tenon::faults {

Outcome Scenario::run() {
  open();
  if (device_) {
    memory();
    sharing();
    transfers();
    for (CommandBufferMode mode : {CommandBufferMode::Stream, CommandBufferMode::Graph})
      commandBuffers(mode);
    launches();
    submissionMemory();
    submissions();
    program();
  }
  close();
  return std::move(outcome_);
}

void Scenario::open() {
  step("query a device", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(auto driver, cuda::Driver::open({}, search_));
    TENON_ASSIGN_OR_RETURN(DeviceInfo info, queryDeviceInfo(*driver, 0));
    return check(info.isEmulator && info.memoryBytes != 0, "the device's description");
  });
  step("open", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(device_, Device::open({}, search_));
    return okStatus();
  });
  step("queues", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(queue_, SubmissionQueue::create(device_, kRing)); // files go around it
    TENON_ASSIGN_OR_RETURN(other_, SubmissionQueue::create(device_));
    return okStatus();
  });
  step("executables", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(executable_, Executable::create(device_, inputs_.executable, "faults"));
    TENON_ASSIGN_OR_RETURN(launches_, Executable::create(device_, inputs_.launches, "launches"));
    return okStatus();
  });
  // Not made anew by a second try: an export that failed to load must load later.
  step("load", [&]() -> Status { return executable_->load(kAdd).status().clone(); });
  step("global",
       [&]() -> Status { return findGlobal(executable_, kCountWorkgroups, "conformance_table").status().clone(); });
}

void Scenario::close() {
  program_.reset();
  queue_.reset();
  other_.reset();
  executable_.reset();
  launches_.reset();
  device_.reset();
}

Status Scenario::await(std::span<const SemaphorePoint> signals) {
  Status first = signals[0].semaphore->wait(signals[0].value, kPatience);
  for (const SemaphorePoint &point : signals.subspan(1)) {
    Status other = point.semaphore->wait(point.value, kPatience);
    if (other.toString() != first.toString())
      return makeError(StatusCode::DataLoss, "half-signalled: '", first.toString(), "' and '", other.toString(), "'");
  }
  return first;
}

Result<std::shared_ptr<Buffer>> Scenario::buffer(const std::vector<uint32_t> &values, const BufferOptions &options) {
  TENON_ASSIGN_OR_RETURN(auto made, allocateBuffer(*device_, values.size() * 4, options));
  TENON_RETURN_IF_ERROR(uploadBytes(*made, 0, bytesOf(values)));
  return made;
}

Status Scenario::expect(const Buffer &of, const std::vector<uint32_t> &wanted) {
  std::vector<uint32_t> values(wanted.size());
  TENON_RETURN_IF_ERROR(downloadBytes(of, 0, {reinterpret_cast<uint8_t *>(values.data()), values.size() * 4}));
  return check(values == wanted, "contents of a buffer");
}

Outcome runScenario(const Inputs &inputs, const cuda::DriverSearch &search) {
  return Scenario(inputs, search).run();
}

} // namespace tenon::faults
