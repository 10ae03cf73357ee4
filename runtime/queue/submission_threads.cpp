// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a submission that is kept to its signals: issue (given to the stream) -> complete (semaphores signalled). Two
// locks are never held at once, but for the stream's around the others.
#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/queue/submission_queue.h"

#include <algorithm>
#include <chrono>

namespace tenon::runtime {

SubmissionQueue::Readiness SubmissionQueue::readiness(Submission &submission) {
  Readiness result = Readiness::Ready;
  for (const SemaphorePoint &point : submission.waits) {
    switch (point.semaphore->state(point.value)) {
    case Semaphore::State::Failed:
      return Readiness::Failed;
    case Semaphore::State::Reached:
      break;
    case Semaphore::State::Pending: {
      // The host needs the work to be complete; a stream can wait for it by itself.
      if (!submission.runsOnHost() && point.semaphore->deviceSignal(point.value))
        break;
      // Between the two questions a signal in flight may have been reached: nobody wakes the worker for it again.
      const Semaphore::State now = point.semaphore->state(point.value);
      if (now == Semaphore::State::Failed)
        return Readiness::Failed;
      if (now == Semaphore::State::Pending)
        result = Readiness::Waiting;
      break;
    }
    }
  }
  return result == Readiness::Ready && submission.wantsMemory() ? takeMemory(submission) : result;
}

namespace {

/// The failure among the waits.
Status waitFailure(std::span<const SemaphorePoint> waits) {
  for (const SemaphorePoint &point : waits)
    if (Result<uint64_t> value = point.semaphore->query(); !value.ok())
      return value.takeStatus();
  return okStatus();
}

} // namespace

Status SubmissionQueue::issueWork(Submission &submission) {
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_->driver();
  for (const SemaphorePoint &point : submission.waits) {
    std::shared_ptr<GpuEvent> event = point.semaphore->deviceSignal(point.value);
    if (event)
      TENON_RETURN_IF_ERROR(
          cuda::driverStatus(driver, driver.cuStreamWaitEvent(stream_.get(), event->handle(), 0), "cuStreamWaitEvent"));
  }
  for (const FreePoint &point : submission.frontier)
    if (point.stream != stream_.get())
      TENON_RETURN_IF_ERROR(cuda::driverStatus(
          driver, driver.cuStreamWaitEvent(stream_.get(), point.event->handle(), 0), "cuStreamWaitEvent"));
  if (submission.profile && submission.profile->wantsDevice() && (submission.streamWork || !submission.work.empty()))
    submission.times = std::make_unique<StreamTimes>(submission.profile, stream_.get(), driver);
  for (Submission::Work &item : submission.work)
    TENON_RETURN_IF_ERROR(item.commandBuffer->issue(stream_.get(), item.table, submission.times.get()));
  if (submission.streamWork) {
    const bool isTimed = submission.times && submission.times->wants(ProfileKind::Call, submission.streamWorkName);
    if (isTimed)
      submission.times->begin();
    TENON_RETURN_IF_ERROR(submission.streamWork(stream_.get()));
    if (isTimed)
      submission.times->end(submission.profileEvent());
  }
  if (submission.deallocated)
    submission.deallocated->markRetired();
  if (submission.deallocated && submission.deallocated->isStreamOrdered()) {
    const Buffer &buffer = *submission.deallocated;
    TENON_RETURN_IF_ERROR(
        cuda::driverStatus(driver, driver.cuMemFreeAsync(buffer.address(), stream_.get()), "cuMemFreeAsync"));
    device_->freeCounted(buffer.size());
    submission.deallocated = nullptr;
  } else if (submission.deallocated && submission.deallocated->pool() &&
             submission.deallocated->pool()->returnsOnStream()) {
    const Buffer &buffer = *submission.deallocated;
    TENON_RETURN_IF_ERROR(buffer.pool()->returnOnStream(buffer.address(), stream_.get()));
    submission.deallocated = nullptr;
  }
  return okStatus();
}

void SubmissionQueue::issue(std::unique_ptr<Submission> submission) {
  noteIssued(*submission);
  submission->status = issueWork(*submission);
  // The event comes behind whatever was issued, also where something was refused: it may be running.
  Result<std::shared_ptr<GpuEvent>> event = events_.acquire();
  Status recorded = event.ok() ? okStatus() : event.takeStatus();
  if (recorded.ok()) {
    cuda::ContextScope scope = device_->enter();
    const cuda::Driver &driver = device_->driver();
    recorded = scope.status();
    if (recorded.ok())
      recorded = cuda::driverStatus(driver, driver.cuEventRecord((*event)->handle(), stream_.get()), "cuEventRecord");
  }
  if (recorded.ok())
    submission->event = event.take();
  submission->synchronizeStream = !recorded.ok();
  if (submission->status.ok() && !recorded.ok())
    submission->status = std::move(recorded).withContext(submission->describe());
  // Others may have the memory now, behind this event.
  if (submission->status.ok() && submission->deallocated && submission->deallocated->pool()) {
    const Buffer &buffer = *submission->deallocated;
    buffer.pool()->giveBack(buffer.address(), {stream_.get(), submission->event, nextFreePoint()});
    submission->deallocated = nullptr;
  }
  // From here on streams can wait for it.
  if (submission->status.ok())
    for (const SemaphorePoint &point : submission->signals)
      point.semaphore->addDeviceSignal(point.value, submission->event);
  finish(std::move(submission));
}

void SubmissionQueue::noteIssued(Submission &submission) {
  if (submission.profile)
    submission.issuedUs = submission.profile->now();
}

/// Before anybody sees that it is complete.
void SubmissionQueue::tellProfile(Submission &submission, bool hasFailed) {
  Profile &profile = *submission.profile;
  if (submission.times) {
    cuda::ContextScope scope = device_->enter();
    submission.times->deliver(number_, submission.sequence);
    submission.times = nullptr;
  }
  ProfileEvent event = submission.profileEvent();
  if (!profile.wants(/*isDevice=*/false, event.kind, event.name))
    return;
  event.queue = number_;
  event.beginUs = submission.submittedUs, event.issuedUs = submission.issuedUs, event.endUs = profile.now();
  event.hasFailed = hasFailed;
  profile.add(event);
}

void SubmissionQueue::runHostCall(std::unique_ptr<Submission> submission) {
  noteIssued(*submission);
  submission->status = submission->hostCall();
  submission->hostCall = nullptr; // what it captured goes first
  finish(std::move(submission));
}

void SubmissionQueue::runFileCommand(std::unique_ptr<Submission> submission) {
  if (!files_)
    files_ = std::make_unique<FileWorker>(device_, fileOptions_,
                                          [this](std::unique_ptr<Submission> done) { finish(std::move(done)); });
  noteIssued(*submission);
  files_->add(std::move(submission));
}

void SubmissionQueue::finish(std::unique_ptr<Submission> submission) {
  std::lock_guard lock(completionMutex_);
  inFlight_.push_back(std::move(submission));
  completionChanged_.notify_all();
}

std::unique_ptr<Submission> SubmissionQueue::takeReady(Readiness &state) {
  std::lock_guard lock(pendingMutex_);
  for (auto next = pending_.begin(); next != pending_.end(); ++next) {
    state = readiness(**next);
    if (state == Readiness::Waiting)
      continue;
    std::unique_ptr<Submission> submission = std::move(*next);
    pending_.erase(next);
    return submission;
  }
  return nullptr;
}

void SubmissionQueue::runWorker() {
  for (;;) {
    {
      std::unique_lock lock(waker_->mutex);
      waker_->changed.wait(lock, [&] { return waker_->woken || waker_->stop; });
      if (waker_->stop)
        return;
      waker_->woken = false;
    }
    Readiness state = Readiness::Waiting;
    while (std::unique_ptr<Submission> submission = takeReady(state)) {
      if (state == Readiness::Failed) {
        if (submission->status.ok())
          submission->status = waitFailure(submission->waits);
        finish(std::move(submission));
      } else if (submission->hostCall) {
        runHostCall(std::move(submission));
      } else if (submission->file) {
        runFileCommand(std::move(submission));
      } else {
        std::lock_guard lock(issueMutex_);
        issue(std::move(submission));
      }
    }
  }
}

// Complete.

/// Waits for the device.
Status SubmissionQueue::finalStatus(Submission &submission) {
  Status status = std::move(submission.status);
  if (!submission.event && !submission.synchronizeStream)
    return status;
  Status finished;
  if (submission.event) {
    finished = submission.event->synchronize();
  } else {
    cuda::ContextScope scope = device_->enter();
    finished = scope.status();
    if (finished.ok())
      finished = cuda::driverStatus(device_->driver(), device_->driver().cuStreamSynchronize(stream_.get()),
                                    "cuStreamSynchronize");
  }
  // A stream that waited for an event does not know whether that work went well; its semaphore does, and knows why.
  for (const SemaphorePoint &point : submission.waits)
    if (status.ok())
      status = point.semaphore->wait(point.value, kWaitForever);
  if (status.ok() && !finished.ok())
    status = std::move(finished).withContext(submission.describe());
  if (!status.ok() && submission.mayFault())
    device_->rememberFault(status);
  return status;
}

void SubmissionQueue::complete(std::unique_ptr<Submission> submission) {
  Status status = finalStatus(*submission);
  if (submission->deallocated) { // not stream-ordered, or never issued: it is returned here
    returnMemory(*submission);
  }
  if (status.ok() && submission->allocated && submission->allocated->pool())
    submission->allocated->pool()->settle(submission->allocated->address(), submission->memorySerial);
  if (submission->profile)
    tellProfile(*submission, !status.ok());
  std::vector<SemaphorePoint> signals;
  signals.swap(submission->signals);
  const uint64_t sequence = submission->sequence;
  submission->clear(); // resources are free when the signal is seen
  for (const SemaphorePoint &point : signals) {
    if (status.ok())
      point.semaphore->advance(point.value);
    else
      point.semaphore->fail(status.clone());
  }
  submission->signals.swap(signals);
  pool_.giveBack(std::move(submission));
  std::lock_guard lock(completionMutex_);
  std::erase(outstanding_, sequence);
  completionChanged_.notify_all();
}

void SubmissionQueue::runCompleter() {
  for (;;) {
    std::unique_ptr<Submission> submission;
    {
      std::unique_lock lock(completionMutex_);
      completionChanged_.wait(lock, [&] { return !inFlight_.empty() || stopCompleter_; });
      if (inFlight_.empty())
        return;
      submission = std::move(inFlight_.front());
      inFlight_.pop_front();
    }
    complete(std::move(submission));
  }
}

Status SubmissionQueue::waitIdle(uint64_t timeoutNs) {
  std::unique_lock lock(completionMutex_);
  const uint64_t last = lastSequence_;
  auto isIdle = [&] {
    return std::none_of(outstanding_.begin(), outstanding_.end(), [&](uint64_t number) { return number <= last; });
  };
  if (timeoutNs > uint64_t(100) * 365 * 86400 * 1000000000) { // above a century a deadline would overflow the clock
    completionChanged_.wait(lock, isIdle);
    return okStatus();
  }
  if (completionChanged_.wait_for(lock, std::chrono::nanoseconds(timeoutNs), isIdle))
    return okStatus();
  return makeError(StatusCode::DeadlineExceeded, outstanding_.size(), " submissions are not complete after ", timeoutNs,
                   " ns");
}

} // namespace tenon::runtime
