// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of a program as Program::load wants them: aligned, and alive as long as the program. A file is mapped, so
// that opening it costs the same whatever the size of its constants; a pipe ("-": standard input) is read.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

class ProgramFile {
public:
  /// NotFound / FailedPrecondition name the path and the system's reason.
  static Result<ProgramFile> open(const std::string &path);

  ProgramFile(ProgramFile &&other) noexcept { *this = std::move(other); }
  ProgramFile &operator=(ProgramFile &&other) noexcept;
  ~ProgramFile();

  /// 64-byte aligned.
  std::span<const uint8_t> bytes() const { return {data_, size_}; }

private:
  ProgramFile() = default;

  const uint8_t *data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false; // else data_ was allocated
};

} // namespace tenon::runtime
