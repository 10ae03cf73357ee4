// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a submission holds, says of itself, and lets go.
#include "runtime/queue/submission.h"

#include <algorithm>

namespace tenon::runtime {

Status checkPoints(SemaphorePoints points, const char *what) {
  for (const SemaphorePoint &point : points)
    if (!point.semaphore)
      return makeError(StatusCode::InvalidArgument, "submit: a ", what, " semaphore is null");
  return okStatus();
}

bool Submission::needsWorker() const {
  return runsOnHost() ||
         std::any_of(work.begin(), work.end(), [](const Work &item) { return item.commandBuffer->waitsOnHost(); });
}

bool Submission::mayFault() const {
  return streamWork || std::any_of(work.begin(), work.end(),
                                   [](const Work &item) { return !item.commandBuffer->dispatchNames().empty(); });
}

std::string Submission::describe() const {
  if (streamWork)
    return concat("a submission of ", streamWorkName);
  std::vector<std::string> names;
  for (const Work &item : work)
    for (std::string &name : item.commandBuffer->dispatchNames())
      names.push_back(std::move(name));
  return names.empty() ? "a submission without dispatches" : concat("a submission that dispatches ", nameList(names));
}

ProfileEvent Submission::profileEvent() const {
  ProfileEvent event;
  event.submission = sequence;
  if (hostCall || isHostCall)
    event.kind = ProfileKind::HostCall;
  else if (file)
    event.kind = ProfileKind::File, event.name = file->file->name(), event.bytes = file->buffer.length;
  else if (allocated)
    event.kind = ProfileKind::Allocation, event.bytes = allocated->size();
  else if (isDeallocation)
    event.kind = ProfileKind::Deallocation;
  else if (streamWork)
    event.kind = ProfileKind::Call, event.name = streamWorkName;
  if (event.name.empty())
    event.name = profileKindName(event.kind);
  return event;
}

void Submission::clear() {
  waits.clear();
  signals.clear();
  work.clear();
  streamWork = nullptr;
  streamWorkName.clear();
  hostCall = nullptr;
  file.reset();
  isHostCall = isDeallocation = false;
  times = nullptr;
  profile = nullptr;
  submittedUs = issuedUs = 0;
  deallocated = allocated = nullptr;
  frontier.clear();
  memorySerial = 0;
  status = okStatus();
  event = nullptr;
  synchronizeStream = false;
}

std::unique_ptr<Submission> SubmissionPool::acquire() {
  std::lock_guard lock(mutex_);
  if (free_.empty())
    return std::make_unique<Submission>();
  std::unique_ptr<Submission> submission = std::move(free_.back());
  free_.pop_back();
  return submission;
}

void SubmissionPool::giveBack(std::unique_ptr<Submission> submission) {
  submission->clear();
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(submission));
}

} // namespace tenon::runtime
