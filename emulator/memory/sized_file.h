// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file in memory, without a name in any folder, whose pages are there once they are touched.
#pragma once

#include <cstdint>

namespace tenon::emulator {

/// @param flags  of memfd_create
/// @return the descriptor of a file of `bytes` bytes; -1 where there can be none, as under a limit of the size of files
///         (`ulimit -f`), which would otherwise end the process with SIGXFSZ
int createSizedFile(const char *name, unsigned flags, uint64_t bytes);

} // namespace tenon::emulator
