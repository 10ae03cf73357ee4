// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mapped pages are aligned and cost nothing until they are read. What cannot be mapped is read whole.
#include "runtime/program/program_file.h"

#include "support/files/file.h"
#include "support/memory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tenon::runtime {

static constexpr size_t kAlignment = 64; // of nested executables and constants

ProgramFile &ProgramFile::operator=(ProgramFile &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

ProgramFile::~ProgramFile() {
  if (mapped_)
    munmap(const_cast<uint8_t *>(data_), size_);
  else
    std::free(const_cast<uint8_t *>(data_));
}

Result<ProgramFile> ProgramFile::open(const std::string &path) {
  ProgramFile file;
  struct stat status = {};
  // What is no file is not even opened here: a pipe would have had its reader.
  const bool isFile = path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  const int descriptor = isFile ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    void *memory = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory != MAP_FAILED) {
      file.data_ = static_cast<const uint8_t *>(memory);
      file.size_ = static_cast<size_t>(status.st_size);
      file.mapped_ = true;
    }
  }
  if (descriptor >= 0)
    close(descriptor);
  if (file.mapped_)
    return file;

  // A pipe, an empty file, or one that cannot be opened: readFile says why.
  TENON_ASSIGN_OR_RETURN(std::string text, readFile(path));
  TENON_RETURN_IF_ERROR(checkMemory(text.size() + kAlignment, concat("'", path, "'")));
  const size_t rounded = (text.size() + kAlignment) / kAlignment * kAlignment;
  auto *memory = static_cast<uint8_t *>(std::aligned_alloc(kAlignment, rounded));
  if (!memory)
    return makeError(StatusCode::ResourceExhausted, "no memory for the ", text.size(), " bytes of '", path, "'");
  if (!text.empty())
    std::memcpy(memory, text.data(), text.size());
  file.data_ = memory;
  file.size_ = text.size();
  return file;
}

} // namespace tenon::runtime
