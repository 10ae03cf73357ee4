// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `--printf=prefix`: what kernels print, each line with the export that printed it in front.
//
//   [scale] n = 4
//
// A kernel's printf writes into a buffer of the device, which the driver empties to the process's standard output when
// somebody waits: for one kernel or for many, with nothing that says whose a line is. So commands run one at a time,
// and while one runs, the descriptors of standard output and error are a file of ours. That is a matter of the whole
// process; a tool may do it, a library may not.
#pragma once

#include "runtime/commands/command_observer.h"
#include "support/result.h"

#include <cstdio>
#include <string>

namespace tenon::runtime {

/// One of the process's streams (stdout, stderr), away for a while.
class CapturedStream {
public:
  /// @param stream its descriptor goes to a file without a name until release()
  explicit CapturedStream(FILE *stream) : stream_(stream) {}
  ~CapturedStream();
  CapturedStream(const CapturedStream &) = delete;
  CapturedStream &operator=(const CapturedStream &) = delete;
  /// Unavailable: the system gives no file or descriptor.
  Status capture();
  /// What was written meanwhile; the descriptor is the old one again.
  std::string release();

private:
  FILE *stream_;
  int kept_ = -1; // the old descriptor; -1: not captured
  FILE *file_ = nullptr;
};

/// Every line of `text` with "[name] " in front; the last one is ended.
std::string prefixLines(std::string_view text, std::string_view name);

/// Prints what the kernels of a call print.
class KernelOutput : public CommandObserver {
public:
  void before(std::string_view name) override;
  void after() override;
  /// The first thing that went wrong.
  Status takeStatus() { return std::move(status_); }

private:
  std::string name_;
  CapturedStream out_{stdout}, error_{stderr};
  Status status_;
};

} // namespace tenon::runtime
