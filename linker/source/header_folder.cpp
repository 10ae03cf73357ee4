// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/source/header_folder.h"

#include "linker/source/kernel_header.inc"
#include "support/files/file.h"
#include "support/sha256.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tenon::linker {

namespace fs = std::filesystem;

std::string_view kernelHeaderText() {
  return kKernelHeader;
}

Result<HeaderFolder> HeaderFolder::create(const std::string &parent) {
  std::string path;
  if (parent.empty()) {
    std::error_code failed;
    fs::path temporary = fs::temp_directory_path(failed);
    path = (failed ? std::string("/tmp") : temporary.string()) + "/tenon-XXXXXX";
    if (!mkdtemp(path.data()))
      return makeError(StatusCode::FailedPrecondition, "cannot make the folder '", path, "': ", std::strerror(errno));
  } else {
    path = concat(parent, "/include-", sha256(kernelHeaderText()).substr(0, 16));
  }
  HeaderFolder folder(path, parent.empty());
  const std::string header = path + "/tenon/kernel.cuh";
  if (Result<std::string> there = readFile(header); there.ok() && *there == kernelHeaderText())
    return folder;
  std::error_code failed;
  fs::create_directories(path + "/tenon", failed);
  if (failed)
    return makeError(StatusCode::FailedPrecondition, "cannot make the folder '", path, "': ", failed.message());
  TENON_RETURN_IF_ERROR(writeFile(header, kernelHeaderText()));
  return folder;
}

HeaderFolder::HeaderFolder(HeaderFolder &&other) noexcept
    : path_(std::move(other.path_)), isTemporary_(std::exchange(other.isTemporary_, false)) {}

HeaderFolder &HeaderFolder::operator=(HeaderFolder &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(isTemporary_, other.isTemporary_);
  return *this;
}

HeaderFolder::~HeaderFolder() {
  std::error_code ignored; // a leftover in the folder for temporary files
  if (isTemporary_)
    fs::remove_all(path_, ignored);
}

} // namespace tenon::linker
