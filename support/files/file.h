// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files in and out: the only input and output that abi/ does, here because linker and runtime tools both need it.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// What ends the reading of something that may have no end.
struct ReadLimits {
  bool onlyFiles = false;               // what is no regular file, nor a link to one, is not read at all
  uint64_t bytes = uint64_t(4) << 30;   // of a pipe, a terminal, standard input
  int writerMilliseconds = 10 * 1000;   // how long a named pipe may have nobody who writes to it
  int silenceMilliseconds = 120 * 1000; // how long who writes to it may write nothing
};

/// Reads a whole file ("-": standard input). NotFound / FailedPrecondition name the path and the system's reason. A
/// folder, a device and a socket are FailedPrecondition, but /dev/null is empty and a terminal is read; more bytes than
/// the limit and more than there is memory for are ResourceExhausted.
Result<std::string> readFile(const std::string &path, const ReadLimits &limits = {});

/// Writes a whole file through a temporary in the same folder and a rename, so a reader never sees half of it ("-" and
/// /dev/stdout: standard output; /dev/stderr and /dev/fd/N likewise). As linkers do, it replaces a symbolic link by the
/// file, and leaves alone what the link named; a device or a pipe, also behind a link, is written in place.
Status writeFile(const std::string &path, std::string_view bytes);

/// InvalidArgument: writing `output` would replace `input`, also one that is named by a link ("-" is nobody's file).
Status checkOutputIsNotInput(const std::string &output, const std::string &input);

/// InvalidArgument: writing one of `outputs` would replace one of `inputs`, or two outputs are one file, but for
/// devices, pipes and "-". Outputs that are not wanted are "".
Status checkOutputs(std::span<const std::string> outputs, std::span<const std::string> inputs);

} // namespace tenon
