// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The libraries that files are read and written with: for --version.
#pragma once

#include <string>

namespace tenon::abi {

/// "FlatBuffers 2.0.8", "zstd 1.5.4": a line each.
std::string libraryVersions();

} // namespace tenon::abi
