// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folder that holds tenon/kernel.cuh for the CUDA compiler. The header's text is part of the linker, so a source
// finds it wherever the linker is installed, in the linker's own version.
#pragma once

#include "support/result.h"

#include <string>
#include <string_view>

namespace tenon::linker {

/// The text of tenon/kernel.cuh.
std::string_view kernelHeaderText();

class HeaderFolder {
public:
  /// Below `parent`, where it stays and is shared, or, with an empty one, a temporary folder that goes with the value.
  static Result<HeaderFolder> create(const std::string &parent);

  HeaderFolder(HeaderFolder &&other) noexcept;
  HeaderFolder &operator=(HeaderFolder &&other) noexcept;
  HeaderFolder(const HeaderFolder &) = delete;
  HeaderFolder &operator=(const HeaderFolder &) = delete;
  ~HeaderFolder();

  const std::string &path() const { return path_; }

private:
  HeaderFolder(std::string path, bool isTemporary) : path_(std::move(path)), isTemporary_(isTemporary) {}

  std::string path_;
  bool isTemporary_ = false;
};

} // namespace tenon::linker
