// The life of a submission: enqueue (checked, kept) -> issue (given to the stream) -> complete (semaphores signalled).
// Two locks are never held at once, but for the stream's around the others.
#include "runtime/submission_queue.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device.h"
#include "runtime/stream_command_buffer.h"

#include <algorithm>
#include <chrono>

namespace tenon::runtime {

struct SubmissionQueue::Submission {
  struct Work {
    std::shared_ptr<CommandBuffer> commandBuffer;
    std::vector<TableEntry> table;
  };
  std::vector<SemaphorePoint> waits, signals;
  std::vector<Work> work;
  std::function<Status()> hostCall;
  std::shared_ptr<Buffer> deallocated; // its memory goes back
  std::shared_ptr<Buffer> allocated;   // kept until it is there
  uint64_t sequence = 0;

  /// Only the worker thread may issue it: it waits for the device, or runs code of the user.
  bool needsWorker() const {
    return hostCall ||
           std::any_of(work.begin(), work.end(), [](const Work &item) { return item.commandBuffer->waitsOnHost(); });
  }
  std::string describe() const;
};

struct SubmissionQueue::InFlight {
  std::unique_ptr<Submission> submission;
  Status status;                   // of issuing
  std::shared_ptr<GpuEvent> event; // behind the work; null: none was issued
  bool synchronizeStream = false;  // work was issued, and no event could be recorded behind it
};

// What semaphores call, which may outlive the queue.
struct SubmissionQueue::Waker {
  std::mutex mutex;
  std::condition_variable changed;
  bool woken = false, stop = false;

  void wake() {
    std::lock_guard lock(mutex);
    woken = true;
    changed.notify_one();
  }
};

/// The dispatches of a submission, for the error of a fault: the device says that something failed, not what.
std::string SubmissionQueue::Submission::describe() const {
  constexpr size_t kMost = 8;
  std::vector<std::string> names;
  for (const Work &item : work)
    for (std::string &name : item.commandBuffer->dispatchNames())
      if (names.empty() || names.back() != name)
        names.push_back(std::move(name));
  if (names.empty())
    return "a submission without dispatches";
  std::string out = "a submission that dispatches ";
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    out += concat(i ? ", '" : "'", names[i], "'");
  return names.size() > kMost ? concat(out, " and ", names.size() - kMost, " more") : out;
}

// Life of the queue.

Result<std::shared_ptr<SubmissionQueue>> SubmissionQueue::create(std::shared_ptr<Device> device) {
  cuda::ContextScope scope = device->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device->driver();
  CUstream stream = nullptr;
  TENON_RETURN_IF_ERROR(
      cuda::driverStatus(driver, driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
  return std::shared_ptr<SubmissionQueue>(new SubmissionQueue(std::move(device), cuda::Stream(driver, stream)));
}

SubmissionQueue::SubmissionQueue(std::shared_ptr<Device> device, cuda::Stream stream)
    : device_(std::move(device)), stream_(std::move(stream)), events_(std::make_shared<GpuEventPool>(device_)),
      waker_(std::make_shared<Waker>()) {
  worker_ = std::thread([this] { runWorker(); });
  completer_ = std::thread([this] { runCompleter(); });
}

SubmissionQueue::~SubmissionQueue() {
  {
    std::lock_guard lock(waker_->mutex);
    waker_->stop = true;
    waker_->changed.notify_one();
  }
  worker_.join();
  for (std::unique_ptr<Submission> &submission : pending_)
    finish(std::move(submission),
           makeError(StatusCode::Aborted, "the queue was destroyed before the submission's waits were reached"),
           nullptr);
  {
    std::lock_guard lock(completionMutex_);
    stopCompleter_ = true;
    completionChanged_.notify_all();
  }
  completer_.join();
  cuda::ContextScope scope = device_->enter();
  cuda::Stream destroyed = std::move(stream_);
}

// Enqueue.

namespace {

Status checkPoints(SemaphorePoints points, const char *what) {
  for (const SemaphorePoint &point : points)
    if (!point.semaphore)
      return makeError(StatusCode::InvalidArgument, "submit: a ", what, " semaphore is null");
  return okStatus();
}

} // namespace

Status SubmissionQueue::enqueue(std::unique_ptr<Submission> submission, SemaphorePoints waits,
                                SemaphorePoints signals) {
  submission->waits.assign(waits.begin(), waits.end());
  submission->signals.assign(signals.begin(), signals.end());
  {
    std::lock_guard lock(completionMutex_);
    submission->sequence = ++lastSequence_;
    outstanding_.insert(submission->sequence);
  }
  if (!submission->needsWorker() && readiness(*submission) == Readiness::Ready) {
    std::unique_lock lock(issueMutex_, std::try_to_lock);
    if (lock.owns_lock()) {
      issue(std::move(submission));
      return okStatus();
    }
  }
  // Copied: once it is in the list, the worker may take it and be done with it.
  const std::vector<SemaphorePoint> watched = submission->waits;
  const bool orInFlight = !submission->hostCall;
  {
    std::lock_guard lock(pendingMutex_);
    pending_.push_back(std::move(submission));
  }
  for (const SemaphorePoint &point : watched)
    point.semaphore->notify(point.value, orInFlight, [waker = waker_] { waker->wake(); });
  waker_->wake();
  return okStatus();
}

Status SubmissionQueue::submit(SemaphorePoints waits, std::span<const BoundCommandBuffer> commandBuffers,
                               SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  auto submission = std::make_unique<Submission>();
  for (const BoundCommandBuffer &bound : commandBuffers) {
    if (!bound.commandBuffer)
      return makeError(StatusCode::InvalidArgument, "submit: a command buffer is null");
    if (&bound.commandBuffer->device() != device_.get())
      return makeError(StatusCode::FailedPrecondition, "submit: the command buffer is of another device, ",
                       bound.commandBuffer->device().description());
    TENON_RETURN_IF_ERROR(bound.commandBuffer->checkSubmission(bound.table));
    submission->work.push_back({bound.commandBuffer, {bound.table.begin(), bound.table.end()}});
  }
  return enqueue(std::move(submission), waits, signals);
}

Status SubmissionQueue::submitRecorded(SemaphorePoints waits, const std::function<Status(CommandBuffer &)> &record,
                                       SemaphorePoints signals) {
  std::shared_ptr<CommandBuffer> commandBuffer = StreamCommandBuffer::create(device_, {.oneShot = true});
  TENON_RETURN_IF_ERROR(commandBuffer->begin());
  TENON_RETURN_IF_ERROR(record(*commandBuffer));
  TENON_RETURN_IF_ERROR(commandBuffer->end());
  const BoundCommandBuffer bound = {std::move(commandBuffer)};
  return submit(waits, {&bound, 1}, signals);
}

Status SubmissionQueue::fill(SemaphorePoints waits, BufferRef target, uint32_t pattern, uint32_t patternBytes,
                             SemaphorePoints signals) {
  return submitRecorded(
      waits, [&](CommandBuffer &buffer) { return buffer.fill(std::move(target), pattern, patternBytes); }, signals);
}

Status SubmissionQueue::update(SemaphorePoints waits, std::span<const uint8_t> bytes, BufferRef target,
                               SemaphorePoints signals) {
  return submitRecorded(waits, [&](CommandBuffer &buffer) { return buffer.update(bytes, std::move(target)); }, signals);
}

Status SubmissionQueue::copy(SemaphorePoints waits, BufferRef source, BufferRef target, SemaphorePoints signals) {
  return submitRecorded(
      waits, [&](CommandBuffer &buffer) { return buffer.copy(std::move(source), std::move(target)); }, signals);
}

Status SubmissionQueue::dispatch(SemaphorePoints waits, std::shared_ptr<Executable> executable, uint32_t ordinal,
                                 std::array<uint32_t, 3> grid, DispatchArguments arguments, SemaphorePoints signals) {
  return submitRecorded(
      waits,
      [&](CommandBuffer &buffer) {
        return buffer.dispatch(std::move(executable), ordinal, grid, std::move(arguments));
      },
      signals);
}

Status SubmissionQueue::hostCall(SemaphorePoints waits, std::function<Status()> function, SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  if (!function)
    return makeError(StatusCode::InvalidArgument, "submit: a host call without a function");
  auto submission = std::make_unique<Submission>();
  submission->hostCall = std::move(function);
  return enqueue(std::move(submission), waits, signals);
}

Result<std::shared_ptr<Buffer>> SubmissionQueue::allocate(SemaphorePoints waits, uint64_t bytes,
                                                          const BufferOptions &options, SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  if (options.memory != MemoryType::DeviceLocal)
    return makeError(StatusCode::InvalidArgument, "allocate: only device memory is stream-ordered");
  std::shared_ptr<Buffer> buffer;
  {
    cuda::ContextScope scope = device_->enter();
    TENON_RETURN_IF_ERROR(scope.status());
    const cuda::Driver &driver = device_->driver();
    const size_t asked = bytes == 0 ? 1 : bytes;
    const bool pooled = device_->hasMemoryPools();
    CUdeviceptr address = 0;
    TENON_RETURN_IF_ERROR(cuda::driverStatus(
        driver, pooled ? driver.cuMemAllocAsync(&address, asked, stream_.get()) : driver.cuMemAlloc_v2(&address, asked),
        concat(pooled ? "cuMemAllocAsync" : "cuMemAlloc_v2", " of ", bytes, " bytes on ", device_->description())));
    device_->countAllocation(bytes);
    BufferOptions local = options;
    local.usage &= ~kUsageMapping;
    buffer = std::make_shared<Buffer>(device_, address, bytes, pooled, local);
  }
  auto submission = std::make_unique<Submission>();
  submission->allocated = buffer;
  TENON_RETURN_IF_ERROR(enqueue(std::move(submission), waits, signals));
  return buffer;
}

Status SubmissionQueue::deallocate(SemaphorePoints waits, std::shared_ptr<Buffer> buffer, SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  if (!buffer)
    return makeError(StatusCode::InvalidArgument, "deallocate: no buffer");
  if (&buffer->device() != device_.get() || (device_->hasMemoryPools() && !buffer->isStreamOrdered()))
    return makeError(StatusCode::FailedPrecondition, "deallocate: the buffer is not of this device's stream-ordered "
                                                     "memory");
  if (!buffer->retire())
    return makeError(StatusCode::FailedPrecondition, "deallocate: the buffer was deallocated before");
  auto submission = std::make_unique<Submission>();
  submission->deallocated = std::move(buffer);
  return enqueue(std::move(submission), waits, signals);
}

// Issue.

SubmissionQueue::Readiness SubmissionQueue::readiness(const Submission &submission) const {
  Readiness result = Readiness::Ready;
  for (const SemaphorePoint &point : submission.waits) {
    switch (point.semaphore->state(point.value)) {
    case Semaphore::State::Failed:
      return Readiness::Failed;
    case Semaphore::State::Reached:
      break;
    case Semaphore::State::Pending:
      // A host call needs the work to be complete; a stream can wait for it by itself.
      if (submission.hostCall || !point.semaphore->deviceSignal(point.value))
        result = Readiness::Waiting;
      break;
    }
  }
  return result;
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
  for (Submission::Work &item : submission.work)
    TENON_RETURN_IF_ERROR(item.commandBuffer->issue(stream_.get(), item.table));
  if (submission.deallocated && submission.deallocated->isStreamOrdered()) {
    const Buffer &buffer = *submission.deallocated;
    TENON_RETURN_IF_ERROR(
        cuda::driverStatus(driver, driver.cuMemFreeAsync(buffer.address(), stream_.get()), "cuMemFreeAsync"));
    device_->countFree(buffer.size());
    submission.deallocated = nullptr;
  }
  return okStatus();
}

void SubmissionQueue::issue(std::unique_ptr<Submission> submission) {
  Status status = issueWork(*submission);
  // The event comes behind whatever was issued, also where something was refused: it may be running.
  Result<std::shared_ptr<GpuEvent>> event = events_->acquire();
  Status recorded = event.ok() ? okStatus() : event.status().clone();
  if (recorded.ok()) {
    cuda::ContextScope scope = device_->enter();
    const cuda::Driver &driver = device_->driver();
    recorded = cuda::driverStatus(driver, driver.cuEventRecord((*event)->handle(), stream_.get()), "cuEventRecord");
  }
  if (status.ok() && !recorded.ok())
    status = std::move(recorded).withContext(submission->describe());
  const bool isOk = status.ok(), hasEvent = event.ok() && recorded.ok();
  const std::vector<SemaphorePoint> signals = submission->signals;
  std::shared_ptr<GpuEvent> behind = hasEvent ? *event : nullptr;
  finish(std::move(submission), std::move(status), behind, /*synchronizeStream=*/!hasEvent);
  // From here on streams can wait for it.
  if (isOk)
    for (const SemaphorePoint &point : signals)
      point.semaphore->addDeviceSignal(point.value, behind);
}

void SubmissionQueue::runHostCall(std::unique_ptr<Submission> submission) {
  Status status = submission->hostCall();
  submission->hostCall = nullptr; // what it captured goes first
  finish(std::move(submission), std::move(status), nullptr);
}

void SubmissionQueue::finish(std::unique_ptr<Submission> submission, Status status, std::shared_ptr<GpuEvent> event,
                             bool synchronizeStream) {
  auto work = std::make_unique<InFlight>();
  work->submission = std::move(submission);
  work->status = std::move(status);
  work->event = std::move(event);
  work->synchronizeStream = synchronizeStream;
  std::lock_guard lock(completionMutex_);
  inFlight_.push_back(std::move(work));
  completionChanged_.notify_all();
}

std::unique_ptr<SubmissionQueue::Submission> SubmissionQueue::takeReady(Readiness &state) {
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
        Status failure = waitFailure(submission->waits);
        finish(std::move(submission), std::move(failure), nullptr);
      } else if (submission->hostCall) {
        runHostCall(std::move(submission));
      } else {
        std::lock_guard lock(issueMutex_);
        issue(std::move(submission));
      }
    }
  }
}

// Complete.

void SubmissionQueue::complete(InFlight &work) {
  Submission &submission = *work.submission;
  Status status = std::move(work.status);
  if (work.event || work.synchronizeStream) {
    Status finished;
    if (work.event) {
      finished = work.event->synchronize();
    } else {
      cuda::ContextScope scope = device_->enter();
      finished = cuda::driverStatus(device_->driver(), device_->driver().cuStreamSynchronize(stream_.get()),
                                    "cuStreamSynchronize");
    }
    // A stream that waited for an event does not know whether that work went well; its semaphore does, and knows why.
    for (const SemaphorePoint &point : submission.waits)
      if (status.ok())
        status = point.semaphore->wait(point.value, kWaitForever);
    if (status.ok() && !finished.ok())
      status = std::move(finished).withContext(submission.describe());
  }
  if (submission.deallocated) // not stream-ordered, or it came to nothing: nobody else returns it
    device_->release(submission.deallocated->address(), submission.deallocated->size(),
                     submission.deallocated->isStreamOrdered());
  const std::vector<SemaphorePoint> signals = std::move(submission.signals);
  const uint64_t sequence = submission.sequence;
  work.event = nullptr;
  work.submission = nullptr; // resources are free when the signal is seen
  for (const SemaphorePoint &point : signals) {
    if (status.ok())
      point.semaphore->advance(point.value);
    else
      point.semaphore->fail(status.clone());
  }
  std::lock_guard lock(completionMutex_);
  outstanding_.erase(sequence);
  completionChanged_.notify_all();
}

void SubmissionQueue::runCompleter() {
  for (;;) {
    std::unique_ptr<InFlight> work;
    {
      std::unique_lock lock(completionMutex_);
      completionChanged_.wait(lock, [&] { return !inFlight_.empty() || stopCompleter_; });
      if (inFlight_.empty())
        return;
      work = std::move(inFlight_.front());
      inFlight_.pop_front();
    }
    complete(*work);
  }
}

Status SubmissionQueue::waitIdle(uint64_t timeoutNs) {
  std::unique_lock lock(completionMutex_);
  const uint64_t last = lastSequence_;
  auto isIdle = [&] { return outstanding_.empty() || *outstanding_.begin() > last; };
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
