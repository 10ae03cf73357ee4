// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two clocks and a sink.
#include "runtime/device/profile.h"

#include "runtime/cuda/driver_status.h"

#include <algorithm>

namespace tenon::runtime {

std::string_view profileKindName(ProfileKind kind) {
  switch (kind) {
  case ProfileKind::Commands:
    return "command buffer";
  case ProfileKind::Dispatch:
    return "dispatch";
  case ProfileKind::Fill:
    return "fill";
  case ProfileKind::Update:
    return "update";
  case ProfileKind::Copy:
    return "copy";
  case ProfileKind::HostCall:
    return "host call";
  case ProfileKind::File:
    return "file";
  case ProfileKind::Allocation:
    return "allocation";
  case ProfileKind::Deallocation:
    return "deallocation";
  case ProfileKind::Call:
    return "call";
  }
  return "unknown";
}

Profile::Profile(const Context &context, ProfileFilter filter, ProfileSink sink)
    : context_(context), filter_(std::move(filter)), start_(std::chrono::steady_clock::now()), sink_(std::move(sink)) {}

Result<std::shared_ptr<Profile>> Profile::create(const Context &context, CUstream stream, ProfileFilter filter,
                                                 ProfileSink sink) {
  if (!sink)
    return makeError(StatusCode::InvalidArgument, "profiling: no sink");
  if ((filter.kinds & ~kAllProfileKinds) != 0 || filter.kinds == 0 || (!filter.host && !filter.device))
    return makeError(StatusCode::InvalidArgument,
                     "profiling: a filter that lets nothing pass, or of unknown kinds: ", filter.kinds);
  if (filter.device && !context.driver().cuEventElapsedTime_v2)
    return makeError(StatusCode::Unimplemented, "profiling: ", context.description(),
                     " does not measure (cuEventElapsedTime_v2, 12.8): ask for host events only");
  std::shared_ptr<Profile> profile(new Profile(context, std::move(filter), std::move(sink)));
  if (profile->wantsDevice())
    TENON_RETURN_IF_ERROR(profile->anchor(stream));
  return profile;
}

Profile::~Profile() {
  cuda::ContextScope scope = context_.enter();
  for (CUevent event : free_)
    (void)context_.driver().cuEventDestroy_v2(event);
  if (anchor_)
    (void)context_.driver().cuEventDestroy_v2(anchor_);
}

double Profile::now() const {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
}

Status Profile::anchor(CUstream stream) {
  cuda::ContextScope scope = context_.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = context_.driver();
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuEventCreate(&anchor_, CU_EVENT_DEFAULT), "cuEventCreate"));
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuEventRecord(anchor_, stream), "cuEventRecord"));
  TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, driver.cuEventSynchronize(anchor_), "cuEventSynchronize"));
  anchorUs_ = now();
  return okStatus();
}

bool Profile::wants(bool isDevice, ProfileKind kind, std::string_view name) const {
  if (!(isDevice ? filter_.device : filter_.host) || !(filter_.kinds & (1u << static_cast<uint32_t>(kind))))
    return false;
  return kind != ProfileKind::Dispatch || filter_.exports.empty() ||
         std::find(filter_.exports.begin(), filter_.exports.end(), name) != filter_.exports.end();
}

void Profile::add(const ProfileEvent &event) {
  std::lock_guard lock(sinkMutex_);
  if (sink_)
    sink_(event);
}

void Profile::close() {
  std::lock_guard lock(sinkMutex_);
  sink_ = nullptr;
}

CUevent Profile::acquire() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      CUevent event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  return context_.driver().cuEventCreate(&event, CU_EVENT_DEFAULT) == CUDA_SUCCESS ? event : nullptr;
}

void Profile::giveBack(const std::vector<CUevent> &events) {
  std::lock_guard lock(mutex_);
  free_.insert(free_.end(), events.begin(), events.end());
}

std::vector<double> Profile::hostTimes(std::vector<CUevent> &events, size_t count) {
  constexpr float kFar = 1000; // ms
  std::lock_guard lock(mutex_);
  const cuda::Driver &driver = context_.driver();
  std::vector<double> out;
  float fromAnchor = 0;
  // The first of a pair from the anchor, the second from the first, so that a length has all its digits.
  for (size_t i = 0; i + 1 < count; i += 2) {
    float length = 0;
    if (driver.cuEventElapsedTime_v2(&fromAnchor, anchor_, events[i]) != CUDA_SUCCESS ||
        driver.cuEventElapsedTime_v2(&length, events[i], events[i + 1]) != CUDA_SUCCESS)
      return out;
    out.push_back(anchorUs_ + double(fromAnchor) * 1000);
    out.push_back(out.back() + double(length) * 1000);
  }
  if (fromAnchor > kFar) {
    anchorUs_ = out[out.size() - 2];
    std::swap(anchor_, events[out.size() - 2]);
  }
  return out;
}

StreamTimes::StreamTimes(std::shared_ptr<Profile> profile, CUstream stream, const cuda::Driver &driver)
    : profile_(std::move(profile)), stream_(stream), driver_(driver) {}

StreamTimes::~StreamTimes() {
  profile_->giveBack(events_);
}

bool StreamTimes::record() {
  CUevent event = isBroken_ ? nullptr : profile_->acquire();
  if (!event) {
    isBroken_ = true;
    return false;
  }
  events_.push_back(event);
  isBroken_ = driver_.cuEventRecord(event, stream_) != CUDA_SUCCESS;
  return !isBroken_;
}

void StreamTimes::begin() {
  hasBegun_ = record();
}

void StreamTimes::end(ProfileEvent event) {
  if (!std::exchange(hasBegun_, false) || !record())
    return;
  event.isDevice = true;
  commands_.push_back(std::move(event));
}

void StreamTimes::deliver(uint64_t queue, uint64_t submission) {
  const std::vector<double> times = profile_->hostTimes(events_, 2 * commands_.size());
  for (size_t i = 0; 2 * i + 1 < times.size(); ++i) {
    commands_[i].queue = queue, commands_[i].submission = submission;
    commands_[i].beginUs = times[2 * i], commands_[i].endUs = times[2 * i + 1];
    profile_->add(commands_[i]);
  }
}

} // namespace tenon::runtime
