// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/libdevice.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

namespace tenon::compiler::codegen {

std::vector<std::string> libdeviceCandidates(const std::string &cudaPath) {
  std::vector<std::string> candidates;
  auto addToolkit = [&](llvm::StringRef root) {
    llvm::SmallString<256> path(root);
    llvm::sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
    candidates.emplace_back(path.str());
  };
  if (!cudaPath.empty()) {
    addToolkit(cudaPath);
    return candidates;
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable); value && *value)
      addToolkit(value);
  if (llvm::ErrorOr<std::string> nvcc = llvm::sys::findProgramByName("nvcc")) {
    // nvcc is often a link into the toolkit: BIN/nvcc of the real file, not of the link.
    llvm::SmallString<256> real;
    if (!llvm::sys::fs::real_path(*nvcc, real))
      addToolkit(llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)));
  }
  addToolkit("/usr/local/cuda");
  addToolkit("/usr/lib/cuda");
  candidates.emplace_back("/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc");
  return candidates;
}

std::optional<std::string> findLibdevice(const std::vector<std::string> &candidates) {
  for (const std::string &path : candidates)
    if (llvm::sys::fs::is_regular_file(path))
      return path;
  return std::nullopt;
}

} // namespace tenon::compiler::codegen
