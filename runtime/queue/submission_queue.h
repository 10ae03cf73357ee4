// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submissions: command buffers, fills, copies, allocations, file transfers and host calls that begin when their wait
// semaphores are reached and then signal theirs. A queue is one stream; queues of a device run side by side.
//
// submit() never waits for the device or for a semaphore:
//
//   issue      A submission whose waits are reached, or are in flight on a device (then the stream waits for an event,
//              not the host), is given to the driver at once on the caller's thread. Any other waits in a list; the
//              queue's worker thread issues it as soon as a semaphore changes. One that waits holds up no other, so a
//              signal may be submitted behind its wait: only semaphores order submissions.
//   complete   An event is recorded behind the work. The queue's completion thread sleeps on it and then signals the
//              semaphores, or fails them with what the device answered; resources are let go there.
//
// A wait that failed, an error while issuing, or a fault of the device fails every signal of the submission with its
// status: none is left half-signalled. Host functions of streams are not used: the driver skips them after a fault.
#pragma once

#include "runtime/memory/pool.h"
#include "runtime/queue/file_worker.h"
#include "runtime/queue/submission.h"
#include "runtime/queue/waker.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>

namespace tenon::runtime {

/// A command buffer to run, with the buffers of its slots (borrowed for the call of submit only).
struct BoundCommandBuffer {
  std::shared_ptr<CommandBuffer> commandBuffer;
  BindingTable table = {};
};

/// What an allocation wants of a pool.
struct PoolRequest {
  BufferOptions buffer = {};
  uint64_t alignment = kBufferAlignment; // bytes, a power of two
  bool wait = false;                     // for memory, where there is none now
};

class SubmissionQueue {
public:
  /// A queue with a stream of its own; `files`: what its file operations may pin. Errors of the driver.
  static Result<std::shared_ptr<SubmissionQueue>> create(std::shared_ptr<Device> device,
                                                         const FileTransferOptions &files = {});
  /// Submissions that were not issued are failed as Aborted; those that were are waited for.
  ~SubmissionQueue();
  SubmissionQueue(const SubmissionQueue &) = delete;
  SubmissionQueue &operator=(const SubmissionQueue &) = delete;

  Device &device() const { return *device_; }

  // Each takes what must be reached before and what is signalled after. InvalidArgument: a null semaphore, or what the
  // command refuses; then nothing is submitted and nothing signalled. Later failures come through the semaphores.

  /// Runs command buffers one after another; none is possible.
  Status submit(SemaphorePoints waits, std::span<const BoundCommandBuffer> commandBuffers, SemaphorePoints signals);
  Status fill(SemaphorePoints waits, BufferRef target, uint32_t pattern, uint32_t patternBytes,
              SemaphorePoints signals);
  Status update(SemaphorePoints waits, std::span<const uint8_t> bytes, BufferRef target, SemaphorePoints signals);
  Status copy(SemaphorePoints waits, BufferRef source, BufferRef target, SemaphorePoints signals);
  Status dispatch(SemaphorePoints waits, std::shared_ptr<Executable> executable, uint32_t ordinal,
                  std::array<uint32_t, 3> grid, DispatchArguments arguments, SemaphorePoints signals);
  /// Calls `function` on the queue's worker thread when the waits are reached on the host; its status is the
  /// submission's. Keep it short: it holds up the submissions that wait in this queue.
  Status hostCall(SemaphorePoints waits, std::function<Status()> function, SemaphorePoints signals);

  /// Bytes of a file from `fileOffset` on into `target`, as many as it has; or those of `source` into the file. They
  /// begin when the waits are reached on the host, on a thread of their own: a slow disk holds up nothing else of the
  /// queue. Beside the buffer's rules: OutOfRange: past the file's end; FailedPrecondition: the file may not be read or
  /// written. What fails later (a disk, a file that was cut short) fails the signals and names the file and the byte;
  /// what was transferred until then stays.
  Status readFile(SemaphorePoints waits, std::shared_ptr<File> file, uint64_t fileOffset, BufferRef target,
                  SemaphorePoints signals);
  Status writeFile(SemaphorePoints waits, BufferRef source, std::shared_ptr<File> file, uint64_t fileOffset,
                   SemaphorePoints signals);

  /// Calls `work` with the queue's stream when the waits are reached or in flight, on the caller's thread or the
  /// queue's; what it gives to the stream is the submission's. It neither waits nor calls this queue. `name` is for
  /// messages: "a call of 'f'".
  Status streamWork(SemaphorePoints waits, std::function<Status(CUstream)> work, std::string name,
                    SemaphorePoints signals);

  /// Device memory from the stream-ordered pool. Its address is known at once; commands may use it once the signals are
  /// reached. InvalidArgument: host-visible memory is not stream-ordered; usage or access that allocateBuffer refuses.
  /// ResourceExhausted: no memory.
  Result<std::shared_ptr<Buffer>> allocate(SemaphorePoints waits, uint64_t bytes, const BufferOptions &options,
                                           SemaphorePoints signals);
  /// As allocate, from a pool of this device. The stream waits where the memory's last user is not done (pool.h). With
  /// `wait`, a pool that is exhausted delays the signals until something is returned to it; the buffer has its address
  /// then, and commands may be recorded and submitted before. InvalidArgument: what the pool never gives out;
  /// ResourceExhausted: it is exhausted, without `wait`.
  Result<std::shared_ptr<Buffer>> allocateFrom(SemaphorePoints waits, std::shared_ptr<Pool> pool, uint64_t bytes,
                                               const PoolRequest &request, SemaphorePoints signals);
  /// Returns a buffer's memory when the waits are reached, without waiting for its last user to let go of the object;
  /// from then on no command may use it. What uses it may be submitted before or after, as long as the waits order it.
  /// FailedPrecondition: it was deallocated before, or is not of allocate or allocateFrom.
  Status deallocate(SemaphorePoints waits, std::shared_ptr<Buffer> buffer, SemaphorePoints signals);

  /// Waits until everything submitted so far is complete or failed. DeadlineExceeded.
  Status waitIdle(uint64_t timeoutNs);

private:
  SubmissionQueue(std::shared_ptr<Device> device, cuda::StreamHandle stream, const FileTransferOptions &files);
  Status enqueue(std::unique_ptr<Submission> submission, SemaphorePoints waits, SemaphorePoints signals);
  Status submitRecorded(SemaphorePoints waits, const std::function<Status(CommandBuffer &)> &record,
                        SemaphorePoints signals);

  enum class Readiness : uint8_t { Waiting, Ready, Failed };
  Readiness readiness(Submission &submission);
  Readiness takeMemory(Submission &submission);
  void returnMemory(Submission &submission);
  void noteIssued(Submission &submission);
  void tellProfile(Submission &submission, bool hasFailed);
  void issue(std::unique_ptr<Submission> submission); // with issueMutex_ held
  Status issueWork(Submission &submission);
  void runHostCall(std::unique_ptr<Submission> submission);
  void runFileCommand(std::unique_ptr<Submission> submission);
  Status enqueueFile(SemaphorePoints waits, FileCommand command, SemaphorePoints signals);
  /// Hands over to the completion thread.
  void finish(std::unique_ptr<Submission> submission);
  std::unique_ptr<Submission> takeReady(Readiness &readiness);
  void runWorker();
  void runCompleter();
  Status finalStatus(Submission &submission);
  void complete(std::unique_ptr<Submission> submission);

  std::shared_ptr<Device> device_;
  const uint64_t number_; // of the queue in its process, for profiles
  cuda::StreamHandle stream_;
  GpuEventPool events_;
  std::shared_ptr<Waker> waker_;
  SubmissionPool pool_;
  const FileTransferOptions fileOptions_;
  std::unique_ptr<FileWorker> files_; // made by the worker thread when it has work for it

  std::mutex issueMutex_; // one thread at a time gives work to the stream; a caller of submit never waits for it

  std::mutex pendingMutex_; // guards pending_
  std::deque<std::unique_ptr<Submission>> pending_;

  std::mutex completionMutex_; // guards what follows
  std::condition_variable completionChanged_;
  std::deque<std::unique_ptr<Submission>> inFlight_; // of one stream in its order
  std::vector<uint64_t> outstanding_;                // sequence numbers of what is not complete
  uint64_t lastSequence_ = 0;
  bool stopCompleter_ = false;

  std::thread worker_, completer_;
};

} // namespace tenon::runtime
