// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number on a command line: --batch=100.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <string>

namespace tenon::runtime {

/// InvalidArgument names the option, what was found and the least that is wanted.
Result<uint64_t> parseCount(const char *name, const std::string &text, uint64_t least);

} // namespace tenon::runtime
