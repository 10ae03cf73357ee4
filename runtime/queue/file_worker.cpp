// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A list, a thread, a transfer.
#include "runtime/queue/file_worker.h"

namespace tenon::runtime {

FileWorker::FileWorker(std::shared_ptr<Device> device, const FileTransferOptions &options, Finish finish)
    : transfer_(std::move(device), options), finish_(std::move(finish)), thread_([this] { run(); }) {}

FileWorker::~FileWorker() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void FileWorker::add(std::unique_ptr<Submission> submission) {
  std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(submission));
  changed_.notify_one();
}

void FileWorker::run() {
  for (;;) {
    std::unique_ptr<Submission> submission;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !waiting_.empty() || stop_; });
      if (waiting_.empty())
        return;
      submission = std::move(waiting_.front());
      waiting_.pop_front();
    }
    submission->status = transfer_.run(*submission->file);
    finish_(std::move(submission));
  }
}

} // namespace tenon::runtime
