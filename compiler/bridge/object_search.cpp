// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/object_search.h"

#include <filesystem>

namespace tenon::compiler::bridge {

std::vector<std::string> ObjectSearch::candidates(std::string_view path) const {
  std::filesystem::path wanted(path);
  if (wanted.is_absolute())
    return {wanted.string()};
  std::vector<std::string> places;
  for (const std::string &folder : paths)
    places.push_back((std::filesystem::path(folder) / wanted).string());
  places.push_back((std::filesystem::path(inputFolder) / wanted).string());
  return places;
}

std::optional<std::string> ObjectSearch::find(std::string_view path) const {
  for (const std::string &candidate : candidates(path)) {
    std::error_code error; // a folder that cannot be read holds no object
    if (std::filesystem::is_regular_file(candidate, error))
      return candidate;
  }
  return std::nullopt;
}

} // namespace tenon::compiler::bridge
