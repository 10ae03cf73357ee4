// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generated PTX, kept in a folder (support/files/folder_cache.h) for the next compilation.
//
// A kernel's name there is the SHA-256 of all that decides about its PTX: the text of its module, the target, the
// pass's options, libdevice, and which code this process runs, Tenon's and LLVM's (support/process/code_identity.h). So
// nothing stale is found, whatever was built or installed anew, and nothing has to be thrown away by hand.
#pragma once

#include "abi/target_arch.h"
#include "support/files/folder_cache.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tenon::compiler::codegen {

class KernelCache {
public:
  static constexpr uint64_t kLimit = 256ull << 20; // bytes

  /// @param folder "kernels" is made in it; empty: nothing is kept
  /// @param options text of every option that decides about the code
  /// @param cudaPath as PtxOptions has it
  KernelCache(llvm::StringRef folder, llvm::StringRef options, const std::string &cudaPath);

  bool isEnabled() const { return files_.isEnabled(); }

  /// The name of what the module that prints as `module` becomes for `arch`.
  std::string keyOf(llvm::StringRef module, abi::TargetArch arch) const;
  std::optional<std::string> find(const std::string &key) const { return files_.find(key); }
  /// Keeps it. What cannot be written is not kept, which harms nothing.
  void store(const std::string &key, llvm::StringRef ptx);
  /// Behind the last store().
  void finish();

private:
  FolderCache files_;
  std::string base_; // of every key
  bool hasNew_ = false, cannotWrite_ = false;
};

} // namespace tenon::compiler::codegen
