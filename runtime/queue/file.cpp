// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From positions in a file to calls of the system, and from errno to a status.
#include "runtime/queue/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tenon::runtime {

namespace {

Status checkAccess(uint32_t access) {
  if (access == 0 || (access & ~kAccessAll) != 0)
    return makeError(StatusCode::InvalidArgument, "a file's access is ", access, ": read 1, write 2 or both");
  return okStatus();
}

std::string errorText(int number) {
  return concat(std::generic_category().message(number), " (errno ", number, ")");
}

StatusCode codeOf(int number) {
  switch (number) {
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
  case ENOMEM:
    return StatusCode::ResourceExhausted;
  case EIO:
    return StatusCode::DataLoss;
  default:
    return StatusCode::FailedPrecondition;
  }
}

/// Calls `call(done)` until all `bytes` are done; it moves some of them, none at the end of the file, or answers errno.
template <typename Call>
Status moveAll(const File &file, const char *what, uint64_t offset, uint64_t bytes, Call call) {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t moved = call(done);
    if (moved < 0 && errno == EINTR)
      continue;
    if (moved < 0)
      return makeError(codeOf(errno), what, " file '", file.name(), "' at byte ", offset + done, ": ",
                       errorText(errno));
    if (moved == 0)
      return makeError(StatusCode::DataLoss, what, " file '", file.name(), "' at byte ", offset + done,
                       ": it ends here, ", bytes - done, " bytes early; it had ", file.size(),
                       " bytes when it was imported");
    done += static_cast<uint64_t>(moved);
  }
  return okStatus();
}

} // namespace

FileCalls FileCalls::posix() {
  return {::pread, ::pwrite};
}

Result<std::shared_ptr<File>> File::importDescriptor(int descriptor, uint32_t access, std::string name,
                                                     const FileCalls &calls) {
  TENON_RETURN_IF_ERROR(checkAccess(access));
  struct stat about = {};
  const int flags = descriptor < 0 ? -1 : fcntl(descriptor, F_GETFL);
  if (flags < 0 || fstat(descriptor, &about) != 0)
    return makeError(StatusCode::InvalidArgument, "file '", name, "': ", descriptor,
                     " is no open descriptor: ", errorText(descriptor < 0 ? EBADF : errno));
  if (!S_ISREG(about.st_mode))
    return makeError(StatusCode::FailedPrecondition, "file '", name,
                     "' is not a regular file: only those have a length, and are read by position");
  const int mode = flags & O_ACCMODE;
  if ((access & kAccessRead) && mode == O_WRONLY)
    return makeError(StatusCode::FailedPrecondition, "file '", name, "' is open for writing only: open it for reading");
  if ((access & kAccessWrite) && mode == O_RDONLY)
    return makeError(StatusCode::FailedPrecondition, "file '", name, "' is open for reading only: open it for writing");
  if ((access & kAccessWrite) && (flags & O_APPEND))
    return makeError(StatusCode::FailedPrecondition, "file '", name,
                     "' is open to append: the system would write at its end, not at the byte that is asked for");
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0)
    return makeError(StatusCode::ResourceExhausted, "file '", name,
                     "': its descriptor cannot be duplicated: ", errorText(errno));
  std::shared_ptr<File> file(new File(std::move(name), static_cast<uint64_t>(about.st_size), access));
  file->descriptor_ = own;
  file->calls_ = calls;
  return file;
}

Result<std::shared_ptr<File>> File::importMemory(void *memory, uint64_t bytes, uint32_t access, std::string name,
                                                 Buffer::Release released) {
  TENON_RETURN_IF_ERROR(checkAccess(access));
  if (!memory && bytes != 0)
    return makeError(StatusCode::InvalidArgument, "file '", name, "': a null address was given for ", bytes, " bytes");
  if (bytes > UINT64_MAX - reinterpret_cast<uint64_t>(memory))
    return makeError(StatusCode::InvalidArgument, "file '", name, "': ", bytes, " bytes from address ",
                     reinterpret_cast<uint64_t>(memory), " on end behind the last address");
  std::shared_ptr<File> file(new File(std::move(name), bytes, access));
  file->memory_ = static_cast<uint8_t *>(memory);
  file->released_ = std::move(released);
  return file;
}

File::~File() {
  if (descriptor_ >= 0)
    close(descriptor_);
  if (released_)
    released_();
}

Status File::check(uint64_t offset, uint64_t length, uint32_t access) const {
  if ((access_ & access) != access)
    return makeError(StatusCode::FailedPrecondition, "file '", name_, "' is ",
                     access_ == kAccessRead ? "read only" : "write only");
  if (offset > size_ || length > size_ - offset)
    return makeError(StatusCode::OutOfRange, length, " bytes from byte ", offset, " of file '", name_, "', which has ",
                     size_, " bytes");
  return okStatus();
}

Status File::read(uint64_t offset, std::span<uint8_t> bytes) const {
  TENON_RETURN_IF_ERROR(check(offset, bytes.size(), kAccessRead));
  if (descriptor_ < 0) {
    if (!bytes.empty())
      std::memcpy(bytes.data(), memory_ + offset, bytes.size());
    return okStatus();
  }
  return moveAll(*this, "reading", offset, bytes.size(), [&](uint64_t done) {
    return calls_.read(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
  });
}

Status File::write(uint64_t offset, std::span<const uint8_t> bytes) const {
  TENON_RETURN_IF_ERROR(check(offset, bytes.size(), kAccessWrite));
  if (descriptor_ < 0) {
    if (!bytes.empty())
      std::memcpy(memory_ + offset, bytes.data(), bytes.size());
    return okStatus();
  }
  return moveAll(*this, "writing", offset, bytes.size(), [&](uint64_t done) {
    return calls_.write(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
  });
}

} // namespace tenon::runtime
