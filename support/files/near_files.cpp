// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/files/near_files.h"

#include "support/text/nearest_names.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tenon {

// Of a folder; a larger one is not where somebody keeps a few kernels.
static constexpr size_t kMaxEntries = 4096;

static std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (names.size() == kMaxEntries)
      return {};
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names); // a folder has no order
  return names;
}

std::vector<std::string> nearFiles(std::span<const std::string> candidates, const std::string &root) {
  std::vector<std::string> near;
  for (const std::string &candidate : candidates) {
    const size_t slash = candidate.rfind('/');
    const std::string folder = slash == std::string::npos ? std::string() : candidate.substr(0, slash + 1);
    const std::string wanted = candidate.substr(folder.size());
    for (const std::string &name : nearestNames(wanted, namesIn(root + folder)))
      if (name != wanted && std::ranges::find(near, folder + name) == near.end())
        near.push_back(folder + name);
  }
  return near;
}

} // namespace tenon
