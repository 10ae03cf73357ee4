// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of submissions: taken from the driver or a pool when an allocation is submitted, or when a pool has some; gone
// when a deallocation was given to its stream.
#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/queue/submission_queue.h"

namespace tenon::runtime {

Result<std::shared_ptr<Buffer>> SubmissionQueue::allocate(SemaphorePoints waits, uint64_t bytes,
                                                          const BufferOptions &options, SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  if (options.memory != MemoryType::DeviceLocal)
    return makeError(StatusCode::InvalidArgument, "allocate: only device memory is stream-ordered");
  TENON_ASSIGN_OR_RETURN(const BufferOptions local, deviceLocalOptions(options));
  std::shared_ptr<Buffer> buffer;
  {
    cuda::ContextScope scope = device_->enter();
    TENON_RETURN_IF_ERROR(scope.status());
    TENON_ASSIGN_OR_RETURN(const StreamMemory memory, allocateStreamMemory(*device_, bytes, stream_.get()));
    buffer = std::make_shared<Buffer>(device_, memory.address, bytes, memory.allocator, local);
  }
  auto submission = pool_.acquire();
  submission->allocated = buffer;
  TENON_RETURN_IF_ERROR(enqueue(std::move(submission), waits, signals));
  return buffer;
}

Result<std::shared_ptr<Buffer>> SubmissionQueue::allocateFrom(SemaphorePoints waits, std::shared_ptr<Pool> pool,
                                                              uint64_t bytes, const PoolRequest &request,
                                                              SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  if (!pool)
    return makeError(StatusCode::InvalidArgument, "allocate: no pool");
  if (&pool->device() != device_.get())
    return makeError(StatusCode::FailedPrecondition, "allocate: pool '", pool->name(), "' is of another device, ",
                     pool->device().description());
  if (request.buffer.memory != MemoryType::DeviceLocal)
    return makeError(StatusCode::InvalidArgument, "allocate: only device memory is stream-ordered");
  TENON_ASSIGN_OR_RETURN(const BufferOptions local, deviceLocalOptions(request.buffer));
  auto submission = pool_.acquire();
  Pool::Waiter waiter;
  if (request.wait)
    waiter = {submission.get(), [waker = waker_] { waker->wake(); }};
  Result<std::optional<PoolMemory>> taken = pool->take(stream_.get(), bytes, request.alignment, std::move(waiter));
  if (!taken.ok()) {
    pool_.giveBack(std::move(submission));
    return taken.takeStatus();
  }
  const uint64_t address = *taken ? (*taken)->address : 0;
  if (*taken) {
    submission->frontier = std::move((*taken)->frontier);
    submission->memorySerial = (*taken)->serial;
  }
  auto buffer =
      std::make_shared<Buffer>(std::move(pool), address, bytes, std::max(request.alignment, kBufferAlignment), local);
  submission->allocated = buffer;
  TENON_RETURN_IF_ERROR(enqueue(std::move(submission), waits, signals));
  return buffer;
}

/// Ready: it has memory now. Failed: the submission's status says why.
SubmissionQueue::Readiness SubmissionQueue::takeMemory(Submission &submission) {
  Buffer &buffer = *submission.allocated;
  auto taken = buffer.pool()->take(stream_.get(), buffer.size(), buffer.addressOrAlignment(),
                                   {&submission, [waker = waker_] { waker->wake(); }});
  if (!taken.ok()) {
    submission.status = taken.takeStatus();
    return Readiness::Failed;
  }
  if (!*taken)
    return Readiness::Waiting;
  submission.frontier = std::move((*taken)->frontier);
  submission.memorySerial = (*taken)->serial;
  buffer.provide((*taken)->address);
  return Readiness::Ready;
}

Status SubmissionQueue::deallocate(SemaphorePoints waits, std::shared_ptr<Buffer> buffer, SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkPoints(waits, "wait"));
  TENON_RETURN_IF_ERROR(checkPoints(signals, "signal"));
  if (!buffer)
    return makeError(StatusCode::InvalidArgument, "deallocate: no buffer");
  if (&buffer->device() != device_.get() ||
      (device_->hasMemoryPools() && !buffer->isStreamOrdered() && !buffer->pool()))
    return makeError(StatusCode::FailedPrecondition, "deallocate: the buffer is not of this device's stream-ordered "
                                                     "memory");
  if (!buffer->claimMemory())
    return makeError(StatusCode::FailedPrecondition, "deallocate: the buffer was deallocated before");
  auto submission = pool_.acquire();
  submission->deallocated = std::move(buffer);
  submission->isDeallocation = true;
  return enqueue(std::move(submission), waits, signals);
}

/// Memory that no stream returned: nobody uses it any more.
void SubmissionQueue::returnMemory(Submission &submission) {
  Buffer &buffer = *submission.deallocated;
  buffer.markRetired();
  if (!buffer.pool())
    freeDeviceMemory(*device_, buffer.address(), buffer.size(), buffer.allocator());
  else if (buffer.address() != 0)
    buffer.pool()->giveBack(buffer.address(), {});
}

} // namespace tenon::runtime
