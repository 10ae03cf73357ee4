// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flags that every tool that links has: one table, so that tenon-link and tenon-compile cannot drift apart.
#pragma once

#include "linker/job/link_job.h"
#include "support/process/command_line.h"

#include <string>
#include <vector>

namespace tenon::linker {

/// "sm_80,sm_90a": known architectures. InvalidArgument lists those that are known.
Result<std::vector<abi::TargetArch>> parseTargetList(const std::vector<std::string> &values);

/// "sm_75", ...: what completions offer.
std::vector<std::string> targetNames();

struct LinkFlags {
  bool strict = false;
  std::string images, ptxas, jobs, nvcc, sourceCache;
  std::vector<std::string> searchPaths, sourceFlags;

  /// Declares --object-search-path, --strict, --images, --ptxas, --jobs, --nvcc, --cu-flag and --cu-cache. The flags
  /// outlive the command line.
  void declare(CommandLine &commandLine);
  /// Fills the job's options. InvalidArgument: a value that cannot be.
  Status applyTo(LinkJob &job) const;
};

} // namespace tenon::linker
