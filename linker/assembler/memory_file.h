// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file that exists only in memory (memfd_create). A program that wants paths gets /proc/self/fd/N: nothing to name,
// nothing to clean up, nothing left behind by a link that was killed half way.
#pragma once

#include "support/result.h"

#include <string>
#include <string_view>

namespace tenon::linker {

class MemoryFile {
public:
  /// ResourceExhausted: the system gives no file, or not all of `contents` fits.
  static Result<MemoryFile> create(const char *name, std::string_view contents = {});

  MemoryFile(MemoryFile &&other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  MemoryFile &operator=(MemoryFile &&other) noexcept;
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile();

  int descriptor() const { return descriptor_; }
  /// Everything written so far, from its first byte.
  Result<std::string> contents() const;

private:
  explicit MemoryFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1; // at least 10, so that none is taken for one of the numbers that a child sees; closed on exec
};

} // namespace tenon::linker
