// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One submission on its way through a queue: made by submit, kept in a list while it waits, given to the stream, kept
// again until the device is done with it. Submissions are used again, and with them the memory of their lists.
#pragma once

#include "runtime/commands/command_buffer.h"
#include "runtime/memory/free_ranges.h"
#include "runtime/queue/file_transfer.h"
#include "runtime/queue/timeline_semaphore.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

using SemaphorePoints = std::span<const SemaphorePoint>;

/// InvalidArgument: one has no semaphore; `what` is "wait" or "signal".
Status checkPoints(SemaphorePoints points, const char *what);

struct Submission {
  struct Work {
    std::shared_ptr<CommandBuffer> commandBuffer;
    std::vector<TableEntry> table;
  };
  uint64_t sequence = 0;
  std::vector<SemaphorePoint> waits, signals;
  std::vector<Work> work;
  std::function<Status(CUstream)> streamWork; // of a program; kept until the device is done, with what it holds
  std::string streamWorkName;
  std::function<Status()> hostCall;
  bool isHostCall = false, isDeallocation = false; // also when what it was about is gone
  std::optional<FileCommand> file;
  std::shared_ptr<Buffer> deallocated; // its memory goes back
  std::shared_ptr<Buffer> allocated;   // kept until it is there
  Frontier frontier;                   // of its memory: the stream waits for these
  uint64_t memorySerial = 0;           // in its pool

  // Of a device that is profiled.
  std::shared_ptr<Profile> profile;
  double submittedUs = 0, issuedUs = 0;
  std::unique_ptr<StreamTimes> times;

  // Once it was issued.
  Status status;                   // of issuing
  std::shared_ptr<GpuEvent> event; // behind the work; null: none was issued
  bool synchronizeStream = false;  // work was issued, and no event could be recorded behind it

  /// It runs on the host: its waits must be reached there, a stream's waiting is not enough.
  bool runsOnHost() const { return hostCall || file; }
  /// Its memory is still to be taken from a pool.
  bool wantsMemory() const { return allocated && allocated->isLate() && allocated->address() == 0; }
  /// Only the queue's worker may issue it: it waits for the device, or runs on the host.
  bool needsWorker() const;
  /// Kernels may run in it: fills and copies alone do not fault, they see another's fault.
  bool mayFault() const;
  /// What a profile calls it.
  ProfileEvent profileEvent() const;
  /// Its dispatches, for the error of a fault: the device says that something failed, not what.
  std::string describe() const;
  /// Lets go of everything but memory of its own.
  void clear();
};

class SubmissionPool {
public:
  std::unique_ptr<Submission> acquire();
  /// Cleared here, on the thread that gives it back.
  void giveBack(std::unique_ptr<Submission> submission);

private:
  std::mutex mutex_; // guards what follows
  std::vector<std::unique_ptr<Submission>> free_;
};

} // namespace tenon::runtime
