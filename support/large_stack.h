// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Readers that call themselves for what is nested need stack for it, and a process that has none left just ends. Such
// work runs on a thread whose stack does not depend on the caller's, and behind a check of how deep its input nests.
#pragma once

#include "support/status.h"

#include <cstddef>
#include <functional>

namespace tenon {

/// Runs `work` to its end on a thread of its own with `stackBytes` of stack, of which only what is used takes memory.
/// ResourceExhausted: there is no such thread, and `work` did not run.
Status runWithLargeStack(size_t stackBytes, const std::function<void()> &work);

} // namespace tenon
