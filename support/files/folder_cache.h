// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of a cache in a folder. Processes share it without locks: a file appears whole (written under another name,
// then renamed) or not at all, its name says what it holds, and what does not check out is as if it were not there: a
// damaged file, one that stood under another name, a pipe.
#pragma once

#include "support/status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

class FolderCache {
public:
  /// Without a folder (empty) nothing is found and nothing stored. The folder is made when something is stored.
  /// @param magic first bytes of every file: what it is and its version
  /// @param limit bytes of all files together, above which those not used for longest are deleted
  FolderCache(std::string folder, std::string magic, uint64_t limit);

  /// "$TENON_CACHE_DIR", which is "none" where nothing is to be kept; else "$XDG_CACHE_HOME/tenon", else
  /// "$HOME/.cache/tenon". Empty: there is none.
  static std::string userFolder();

  bool isEnabled() const { return !folder_.empty(); }
  const std::string &folder() const { return folder_; }

  /// The bytes stored under `name`, which are used now; nothing where there are none, they are damaged, or they were
  /// stored under another name.
  std::optional<std::string> find(const std::string &name) const;
  /// A failure says why it could not be written, which harms nothing else.
  Status store(const std::string &name, std::string_view bytes) const;
  /// store() for one of many: the limit is not looked at, which takes a walk through the folder; trim() once behind
  /// them.
  Status storeOneOfMany(const std::string &name, std::string_view bytes) const;
  void trim() const;
  void remove(const std::string &name) const;

private:
  std::string pathOf(const std::string &name) const { return folder_ + "/" + name; }

  std::string folder_, magic_;
  uint64_t limit_;
};

} // namespace tenon
