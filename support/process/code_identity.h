// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which code runs: what a cache of compiled code has to know beside what was compiled. A version number says too
// little: a compiler that was built anew keeps its version and may compile otherwise.
#pragma once

#include <string>

namespace tenon {

/// SHA-256 over the build ids (the linker's hash of their contents) of this program and every shared library it has
/// loaded. What has no build id counts by its file's size and time of change. The same for every call that sees the
/// same libraries; 64 hexadecimal digits.
std::string codeIdentity();

} // namespace tenon
