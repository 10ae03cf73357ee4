// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM ends the process where it has no memory, and where it finds something that cannot be.
#pragma once

namespace tenon::compiler::bridge {

/// For tools, once, behind reportMissingMemory(): where LLVM has no memory it ends as the rest of the process does,
/// with one line and status 1; what else it gives up on is printed as an error of `program`, and is a crash (SIGABRT).
void reportLlvmErrors(const char *program);

} // namespace tenon::compiler::bridge
