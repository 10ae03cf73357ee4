// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the files named by `#hal.executable.object<{path = "..."}>` are looked for: an absolute path as it is; any
// other below each --object-search-path in the order given, then below the folder of the input file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler::bridge {

struct ObjectSearch {
  std::vector<std::string> paths; // --object-search-path, in order
  std::string inputFolder;        // of the .mlir file; empty: the current folder

  /// Every place where `path` may be, in the order they are tried.
  std::vector<std::string> candidates(std::string_view path) const;
  /// The first candidate that is a file.
  std::optional<std::string> find(std::string_view path) const;
};

} // namespace tenon::compiler::bridge
