// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file is read to its end in one piece and written under another name first. What is not a regular file (a pipe,
// /dev/null) is written in place, since a rename would replace it; a symbolic link is followed, not replaced.
#include "support/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tenon {

static Status systemError(std::string_view what, const std::string &path, int error) {
  StatusCode code = error == ENOENT || error == ENOTDIR ? StatusCode::NotFound : StatusCode::FailedPrecondition;
  return makeError(code, "cannot ", what, " '", path, "': ", std::generic_category().message(error));
}

static int openRetrying(const char *path, int flags, mode_t mode = 0) {
  int fd = -1;
  do
    fd = ::open(path, flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/// Reads everything up to the end of `fd`, which probably comes after `expected` bytes; 0 or errno.
static int readAll(int fd, size_t expected, std::string &out) {
  constexpr size_t kChunk = 1 << 16;
  size_t have = 0;
  out.resize(expected + 1); // one more byte: the end shows in the same call
  for (;;) {
    if (have == out.size())
      out.resize(have + std::max(have, kChunk));
    const ssize_t n = ::read(fd, out.data() + have, out.size() - have);
    if (n < 0 && errno != EINTR)
      return errno;
    if (n == 0) {
      out.resize(have);
      return 0;
    }
    have += n > 0 ? static_cast<size_t>(n) : 0;
  }
}

/// Writes everything; 0 or errno.
static int writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0)
      bytes.remove_prefix(static_cast<size_t>(n));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

Result<std::string> readFile(const std::string &path) {
  int fd = path == "-" ? STDIN_FILENO : openRetrying(path.c_str(), O_RDONLY);
  if (fd < 0)
    return systemError("read", path, errno);
  std::string bytes;
  struct stat info;
  const bool hasSize = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const int error = readAll(fd, hasSize ? static_cast<size_t>(info.st_size) : 0, bytes);
  if (fd != STDIN_FILENO)
    ::close(fd);
  if (error)
    return systemError("read", path, error);
  return bytes;
}

static Status writeInPlace(const std::string &path, std::string_view bytes) {
  int fd = path == "-" ? STDOUT_FILENO : openRetrying(path.c_str(), O_WRONLY);
  if (fd < 0)
    return systemError("write", path, errno);
  int error = writeAll(fd, bytes);
  if (fd != STDOUT_FILENO && ::close(fd) != 0 && !error)
    error = errno;
  return error ? systemError("write", path, error) : okStatus();
}

/// Creates `path`.tmp.PID.N for the first free N, with the permissions that any new file gets.
static int openTemporary(const std::string &path, std::string &temporary) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = concat(path, ".tmp.", ::getpid(), '.', attempt);
    int fd = openRetrying(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0 || errno != EEXIST)
      return fd;
  }
  return -1;
}

Status writeFile(const std::string &path, std::string_view bytes) {
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (path == "-" || (exists && !S_ISREG(info.st_mode)))
    return writeInPlace(path, bytes);
  std::string target = path;
  if (exists)
    if (std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free); real)
      target = real.get();
  std::string temporary;
  int fd = openTemporary(target, temporary);
  if (fd < 0)
    return systemError("write", path, errno);
  int error = writeAll(fd, bytes);
  if (::close(fd) != 0 && !error)
    error = errno;
  if (!error && ::rename(temporary.c_str(), target.c_str()) != 0)
    error = errno;
  if (!error)
    return okStatus();
  ::unlink(temporary.c_str());
  return systemError("write", path, error);
}

} // namespace tenon
