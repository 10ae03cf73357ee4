// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled sources, kept in a folder (support/files/folder_cache.h) by what they were made from.
//
//   <key>.deps   of a source, its compiler, flags and target: which files were read when it was compiled last
//   <key>.ptx    of the same and the contents of those files: the PTX and what the compiler said
#pragma once

#include "support/files/folder_cache.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tenon::linker {

struct CachedSource {
  std::string ptx;
  std::string log;                // of the compiler: warnings
  std::vector<std::string> files; // that were read, the source among them; paths as the compiler wrote them
};

class SourceCache {
public:
  static constexpr uint64_t kDefaultLimit = 512ull << 20;

  /// Without a folder (empty) nothing is found and nothing stored. The folder is made when something is stored.
  /// @param limit bytes of all files together, above which those not used for longest are deleted
  explicit SourceCache(std::string folder, uint64_t limit = kDefaultLimit);

  bool isEnabled() const { return files_.isEnabled(); }
  const std::string &folder() const { return files_.folder(); }

  /// What was compiled under `key`, if every file that was read then has the same contents now.
  std::optional<CachedSource> find(const std::string &key);
  /// Keeps it. A failure says why it could not be written, which harms nothing else.
  Status store(const std::string &key, const CachedSource &compiled);

private:
  /// SHA-256 of a file's contents, or nothing where it cannot be read. Files do not change during a link.
  std::optional<std::string> contentsOf(const std::string &path);
  std::optional<std::string> keyOfContents(const std::string &key, const std::vector<std::string> &files);

  FolderCache files_;
  std::mutex mutex_; // of hashes_
  std::map<std::string, std::optional<std::string>> hashes_;
};

} // namespace tenon::linker
