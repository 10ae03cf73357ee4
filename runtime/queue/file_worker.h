// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thread on which a queue's file operations run, one after another: a slow disk holds up neither the queue's own
// worker nor the threads that submit. What was added is done, also where the queue is destroyed meanwhile.
#pragma once

#include "runtime/queue/file_transfer.h"
#include "runtime/queue/submission.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>

namespace tenon::runtime {

class FileWorker {
public:
  using Finish = std::function<void(std::unique_ptr<Submission>)>;
  /// `finish` is called on the worker's thread with each submission, its status set.
  FileWorker(std::shared_ptr<Device> device, const FileTransferOptions &options, Finish finish);
  ~FileWorker();
  FileWorker(const FileWorker &) = delete;
  FileWorker &operator=(const FileWorker &) = delete;

  /// A submission with a file command whose waits are reached.
  void add(std::unique_ptr<Submission> submission);

private:
  void run();

  FileTransfer transfer_;
  Finish finish_;
  std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Submission>> waiting_;
  bool stop_ = false;
  std::thread thread_;
};

} // namespace tenon::runtime
