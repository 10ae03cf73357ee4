// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program run to its end, without a shell: arguments are passed as they are, whatever characters they hold.
#pragma once

#include "linker/assembler/memory_file.h"
#include "support/result.h"

#include <span>
#include <string>
#include <vector>

namespace tenon::linker {

struct ProcessResult {
  int exitStatus = 0; // 128 + signal where a signal ended it
  std::string output; // standard output and standard error, in the order written
};

/// Path of file `index` of `files` inside the child.
std::string childPath(size_t index);

/// Runs `arguments[0]`, a path, with empty standard input and the caller's environment; `files` are open in it under
/// childPath(0), childPath(1), ... Several threads may run processes at once.
/// Unavailable: it cannot be started. ResourceExhausted: no memory for its output.
Result<ProcessResult> runProcess(const std::vector<std::string> &arguments, std::span<const MemoryFile *const> files);

} // namespace tenon::linker
