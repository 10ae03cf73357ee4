// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files in and out: the only input and output that abi/ does, here because linker and runtime tools both need it.
#pragma once

#include "support/result.h"

#include <string>
#include <string_view>

namespace tenon {

/// Reads a whole file ("-": standard input). NotFound / FailedPrecondition name the path and the system's reason.
Result<std::string> readFile(const std::string &path);

/// Writes a whole file through a temporary in the same folder and a rename, so a reader never sees half of it ("-":
/// standard output).
Status writeFile(const std::string &path, std::string_view bytes);

} // namespace tenon
