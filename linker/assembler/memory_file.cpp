// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memfd_create(2): a descriptor without a name in any folder.
#include "linker/assembler/memory_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tenon::linker {

static constexpr int kLowestDescriptor = 10;

static Status systemError(const char *call) {
  return makeError(StatusCode::ResourceExhausted, call, ": ", std::strerror(errno));
}

Result<MemoryFile> MemoryFile::create(const char *name, std::string_view contents) {
  const int first = memfd_create(name, MFD_CLOEXEC);
  if (first < 0)
    return systemError("memfd_create");
  const int descriptor = fcntl(first, F_DUPFD_CLOEXEC, kLowestDescriptor);
  close(first);
  if (descriptor < 0)
    return systemError("fcntl(F_DUPFD_CLOEXEC)");
  MemoryFile file(descriptor);
  for (size_t done = 0; done < contents.size();) {
    const ssize_t written = pwrite(descriptor, contents.data() + done, contents.size() - done, off_t(done));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return systemError("pwrite");
    done += size_t(written);
  }
  return file;
}

MemoryFile &MemoryFile::operator=(MemoryFile &&other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

Result<std::string> MemoryFile::contents() const {
  struct stat info = {};
  if (fstat(descriptor_, &info) != 0)
    return systemError("fstat");
  std::string bytes(size_t(info.st_size), '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t read = pread(descriptor_, bytes.data() + done, bytes.size() - done, off_t(done));
    if (read < 0 && errno == EINTR)
      continue;
    if (read <= 0)
      return systemError("pread");
    done += size_t(read);
  }
  return bytes;
}

} // namespace tenon::linker
