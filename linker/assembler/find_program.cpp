// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The toolkit that the environment names comes first, as in every tool that CUDA users know.
#include "linker/assembler/find_program.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tenon::linker {

static bool isProgram(const std::string &path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

static std::vector<std::string> toolkitFolders() {
  std::vector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable); root && *root)
      folders.push_back(concat(root, "/bin"));
  const char *path = std::getenv("PATH");
  for (std::string_view rest = path ? path : ""; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.empty())
      folders.emplace_back(folder);
  }
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

Result<std::string> findCudaProgram(const std::string &name, const std::string &given) {
  if (given.find('/') != std::string::npos) {
    if (isProgram(given))
      return given;
    return makeError(StatusCode::NotFound, "'", given, "' is not a program that can be run");
  }
  const std::string &wanted = given.empty() ? name : given;
  for (const std::string &folder : toolkitFolders())
    if (std::string candidate = concat(folder, "/", wanted); isProgram(candidate))
      return candidate;
  return makeError(StatusCode::NotFound, "no ", wanted,
                   " in $CUDA_HOME/bin, $CUDA_PATH/bin, PATH or /usr/local/cuda/bin");
}

} // namespace tenon::linker
