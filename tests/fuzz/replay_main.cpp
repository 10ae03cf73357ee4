// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a fuzz target over files, without a fuzzer: the seeds, and every input that once crashed it. Arguments are files
// and folders; a folder's files are taken in the order of their names.
#include "fuzz.h"

#include "support/file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

int main(int argc, char **argv) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    std::error_code failed;
    if (!fs::is_directory(argv[i], failed)) {
      paths.emplace_back(argv[i]);
      continue;
    }
    for (fs::directory_iterator it(argv[i], failed), end; !failed && it != end; it.increment(failed))
      paths.push_back(it->path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string &path : paths) {
    tenon::Result<std::string> bytes = tenon::readFile(path);
    if (!bytes.ok()) {
      std::fprintf(stderr, "%s\n", std::string(bytes.status().message()).c_str());
      return 1;
    }
    std::fprintf(stderr, "%s: %zu bytes\n", path.c_str(), bytes->size()); // the last one named is the one that crashed
    // A copy of the exact size, so that a sanitizer sees the first byte behind it.
    const std::vector<uint8_t> exact(bytes->begin(), bytes->end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  }
  std::fprintf(stderr, "%zu inputs\n", paths.size());
  return paths.empty() ? 1 : 0;
}
