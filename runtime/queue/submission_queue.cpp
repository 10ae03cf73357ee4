// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enqueue: a submission is checked and kept, or given to the stream at once. The threads that take it from there are in
// submission_threads.cpp.
#include "runtime/queue/submission_queue.h"

#include "runtime/commands/command_buffer_validator.h"
#include "runtime/commands/stream_command_buffer.h"
#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"

#include <atomic>

namespace tenon::runtime {

// Life of the queue.

namespace {

uint64_t nextNumber() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace

Result<std::shared_ptr<SubmissionQueue>> SubmissionQueue::create(std::shared_ptr<Device> device,
                                                                 const FileTransferOptions &files) {
  cuda::ContextScope scope = device->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_ASSIGN_OR_RETURN(cuda::StreamHandle stream, cuda::createStream(device->driver()));
  return std::shared_ptr<SubmissionQueue>(new SubmissionQueue(std::move(device), std::move(stream), files));
}

SubmissionQueue::SubmissionQueue(std::shared_ptr<Device> device, cuda::StreamHandle stream,
                                 const FileTransferOptions &files)
    : device_(std::move(device)), number_(nextNumber()), stream_(std::move(stream)), events_(device_),
      waker_(std::make_shared<Waker>()), fileOptions_(files) {
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
  files_.reset(); // with all it has
  for (std::unique_ptr<Submission> &submission : pending_) {
    submission->status =
        makeError(StatusCode::Aborted, "the queue was destroyed before the submission's waits were reached");
    finish(std::move(submission));
  }
  {
    std::lock_guard lock(completionMutex_);
    stopCompleter_ = true;
    completionChanged_.notify_all();
  }
  completer_.join();
  cuda::ContextScope scope = device_->enter();
  cuda::StreamHandle destroyed = std::move(stream_);
}

// Enqueue.

Status SubmissionQueue::enqueue(std::unique_ptr<Submission> submission, SemaphorePoints waits,
                                SemaphorePoints signals) {
  submission->waits.assign(waits.begin(), waits.end());
  submission->signals.assign(signals.begin(), signals.end());
  submission->profile = device_->profile();
  if (submission->profile)
    submission->submittedUs = submission->profile->now();
  {
    std::lock_guard lock(completionMutex_);
    submission->sequence = ++lastSequence_;
    outstanding_.push_back(submission->sequence);
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
  const bool orInFlight = !submission->runsOnHost();
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
  auto submission = pool_.acquire();
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
  auto submission = pool_.acquire();
  submission->hostCall = std::move(function);
  submission->isHostCall = true;
  return enqueue(std::move(submission), waits, signals);
}

Status SubmissionQueue::enqueueFile(SemaphorePoints waits, FileCommand command, SemaphorePoints signals) {
  const bool isRead = command.kind == FileCommand::Kind::Read;
  const std::string_view name = isRead ? "read of a file" : "write of a file";
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  if (!command.file)
    return makeError(StatusCode::InvalidArgument, name, ": no file");
  TENON_RETURN_IF_ERROR(CommandBufferValidator::checkTransfer(*device_, name, command.buffer,
                                                              isRead ? kUsageTransferTarget : kUsageTransferSource,
                                                              isRead ? kAccessWrite : kAccessRead));
  TENON_RETURN_IF_ERROR(
      command.file->check(command.fileOffset, command.buffer.length, isRead ? kAccessRead : kAccessWrite)
          .withContext(name));
  auto submission = pool_.acquire();
  submission->file = std::move(command);
  return enqueue(std::move(submission), waits, signals);
}

Status SubmissionQueue::readFile(SemaphorePoints waits, std::shared_ptr<File> file, uint64_t fileOffset,
                                 BufferRef target, SemaphorePoints signals) {
  return enqueueFile(waits, {FileCommand::Kind::Read, std::move(file), fileOffset, std::move(target)}, signals);
}

Status SubmissionQueue::writeFile(SemaphorePoints waits, BufferRef source, std::shared_ptr<File> file,
                                  uint64_t fileOffset, SemaphorePoints signals) {
  return enqueueFile(waits, {FileCommand::Kind::Write, std::move(file), fileOffset, std::move(source)}, signals);
}

Status SubmissionQueue::streamWork(SemaphorePoints waits, std::function<Status(CUstream)> work, std::string name,
                                   SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  if (!work)
    return makeError(StatusCode::InvalidArgument, "submit: stream work without a function");
  auto submission = pool_.acquire();
  submission->streamWork = std::move(work);
  submission->streamWorkName = std::move(name);
  return enqueue(std::move(submission), waits, signals);
}

} // namespace tenon::runtime
