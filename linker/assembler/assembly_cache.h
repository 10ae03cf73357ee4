// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ptxas made, kept in a folder (support/files/folder_cache.h): the cubin and what ptxas said, under the SHA-256 of
// its text, target and which ptxas it was. ptxas takes milliseconds for the smallest kernel, and a program may have
// hundreds.
#pragma once

#include "linker/assembler/ptxas.h"
#include "support/files/folder_cache.h"

#include <string>
#include <string_view>

namespace tenon::linker {

class AssemblyCache {
public:
  static constexpr uint64_t kLimit = 512ull << 20; // bytes

  /// @param folder "cubins" is made in it; empty: nothing is kept
  AssemblyCache(const std::string &folder, std::string ptxas);

  /// runPtxas(), unless it is known what comes of it. On any thread. Only what was assembled is kept.
  Result<Assembly> assemble(abi::TargetArch target, std::string_view text) const;

private:
  std::string ptxas_;
  std::string identity_; // of ptxas: its path, size and time of change
  FolderCache files_;
};

} // namespace tenon::linker
