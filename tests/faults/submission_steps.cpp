// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What queues are given: work between semaphores, memory in the order of streams, host calls, files.
#include "scenario_run.h"

#include "runtime/memory/block_pool.h"
#include "runtime/memory/driver_pool.h"

namespace tenon::faults {

void Scenario::submissions() {
  // The second waits for the first, which waits for the host.
  step("between queues", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(auto x, buffer(std::vector<uint32_t>(kThreads, 0)));
    auto gate = Semaphore::create(), between = Semaphore::create();
    const SemaphorePoint opened = {gate, 1}, middle = {between, 1};
    TENON_RETURN_IF_ERROR(queue_->fill({&opened, 1}, BufferRef::of(x), 4, 4, {&middle, 1}));
    TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) {
      Status submitted =
          other_->dispatch({&middle, 1}, executable_, kScale, {1, 1, 1}, {{BufferRef::of(x)}, {kThreads, 3}}, signals);
      if (Status opening = gate->signal(1); submitted.ok())
        submitted = std::move(opening);
      // Also where the second was refused, the first ends.
      if (Status ended = between->wait(1, kPatience); ended.code() == StatusCode::DeadlineExceeded)
        return ended;
      return submitted;
    }));
    return expect(*x, std::vector<uint32_t>(kThreads, 12));
  });
  // A stream waits for what is given to the device and not known to be complete: here it never is of itself.
  step("wait on the device", [&]() -> Status {
    GpuEventPool events(device_);
    TENON_ASSIGN_OR_RETURN(auto event, events.acquire());
    auto between = Semaphore::create();
    between->addDeviceSignal(1, event);
    const SemaphorePoint middle = {between, 1};
    // On a queue whose worker holds up nobody: what is not issued at once would find the value reached.
    TENON_ASSIGN_OR_RETURN(auto fresh, SubmissionQueue::create(device_));
    return submitAndWait([&](SemaphorePoints signals) {
      Status submitted = fresh->submit({&middle, 1}, {}, signals);
      between->advance(1);
      return submitted;
    });
  });
  step("host call", [&]() -> Status {
    return submitAndWait(
        [&](SemaphorePoints signals) { return queue_->hostCall({}, [] { return okStatus(); }, signals); });
  });
  step("files", [&]() -> Status {
    std::vector<uint8_t> from(kFileBytes, 3), to(kFileBytes);
    TENON_ASSIGN_OR_RETURN(auto source, File::importMemory(from.data(), kFileBytes, kAccessRead, "source"));
    TENON_ASSIGN_OR_RETURN(auto target, File::importMemory(to.data(), kFileBytes, kAccessWrite, "target"));
    TENON_ASSIGN_OR_RETURN(auto x, allocateBuffer(*device_, kFileBytes, {}));
    TENON_RETURN_IF_ERROR(submitAndWait(
        [&](SemaphorePoints signals) { return queue_->readFile({}, source, 0, BufferRef::of(x), signals); }));
    TENON_RETURN_IF_ERROR(submitAndWait(
        [&](SemaphorePoints signals) { return queue_->writeFile({}, BufferRef::of(x), target, 0, signals); }));
    return check(to == from, "contents of a file");
  });
  step("idle", [&]() -> Status { return queue_->waitIdle(kPatience); });
}

void Scenario::submissionMemory() {
  step("stream-ordered memory", [&]() -> Status {
    std::shared_ptr<Buffer> memory;
    TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) -> Status {
      TENON_ASSIGN_OR_RETURN(memory, queue_->allocate({}, kBytes, {}, signals));
      return okStatus();
    }));
    return submitAndWait([&](SemaphorePoints signals) { return queue_->deallocate({}, memory, signals); });
  });
  step("pools", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(
        auto blocks, BlockPool::create(device_, {.blockBytes = kBytes, .blocksPerSlab = 1, .limitBytes = kBytes}));
    std::vector<std::shared_ptr<Pool>> pools = {blocks};
    if (device_->hasMemoryPools()) {
      TENON_ASSIGN_OR_RETURN(auto driverPool, DriverPool::create(device_, {.releaseThreshold = 1 << 20}));
      pools.push_back(driverPool);
    }
    for (const auto &pool : pools) {
      std::shared_ptr<Buffer> memory;
      TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) -> Status {
        TENON_ASSIGN_OR_RETURN(memory, queue_->allocateFrom({}, pool, kBytes, {}, signals));
        return okStatus();
      }));
      TENON_RETURN_IF_ERROR(
          submitAndWait([&](SemaphorePoints signals) { return queue_->deallocate({}, std::move(memory), signals); }));
      // Of a block the other stream waits for the first one's event.
      TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) -> Status {
        TENON_ASSIGN_OR_RETURN(memory, other_->allocateFrom({}, pool, kBytes, {.wait = true}, signals));
        return okStatus();
      }));
      memory.reset();
      TENON_RETURN_IF_ERROR(check(pool->statistics().live == 0, "a pool's count"));
      TENON_RETURN_IF_ERROR(pool->trim());
    }
    return okStatus();
  });
}

} // namespace tenon::faults
