// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --diff: what changed between two executables or two programs, kernel by kernel. Lines begin as in diff: `-` is gone,
// `+` is new, `!` is in both and differs.
#pragma once

#include "abi/format/views/executable_view.h"
#include "abi/format/views/program_view.h"

#include <string>

namespace tenon::linker {

/// Empty: they are the same in everything that is compared: exports, layouts, launches, variants, resources, images.
std::string diffExecutables(const abi::ExecutableView &before, const abi::ExecutableView &after);

/// The same of every executable, by name, and of functions, as tenon-dump prints them, and constants.
std::string diffPrograms(const abi::ProgramView &before, const abi::ProgramView &after);

} // namespace tenon::linker
