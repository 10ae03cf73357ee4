// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file is read to its end in one piece and written under another name first. What is not a regular file (a pipe,
// /dev/null) is written in place, since a rename would replace it. A symbolic link is replaced, as GNU ld, lld and
// clang do: what it names may belong to somebody else. /dev/stdout is a link too, and is taken as the descriptor it
// stands for.
#include "support/files/file.h"

#include "support/memory.h"
#include "support/number.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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

/// A buffer grows to twice its size; more than this at once is asked for first.
constexpr size_t kChunk = 1 << 16;

/// How long a named pipe that is to be written may have nobody who reads it.
constexpr int kReaderMilliseconds = 10 * 1000;

/// Whether there is something to read, or an end, within that time.
static Result<bool> waitForBytes(int fd, const std::string &path, int milliseconds) {
  pollfd wanted = {fd, POLLIN, 0};
  int ready = 0;
  do
    ready = ::poll(&wanted, 1, milliseconds);
  while (ready < 0 && errno == EINTR);
  if (ready < 0)
    return systemError("read", path, errno);
  return ready > 0;
}

/// Of a named pipe, which does not wait by itself: as long as nobody has it open to write, it reads as ended; then, as
/// long as it is empty, as not ready.
static Result<size_t> readFromPipe(int fd, const std::string &path, const ReadLimits &limits, bool isFirst, char *out,
                                   size_t bytes) {
  bool isReady = true;
  if (isFirst) {
    TENON_ASSIGN_OR_RETURN(isReady, waitForBytes(fd, path, limits.writerMilliseconds));
  }
  for (;;) {
    const ssize_t n = ::read(fd, out, bytes);
    if (n == 0 && !isReady)
      return makeError(StatusCode::FailedPrecondition, "cannot read '", path,
                       "': it is a named pipe, and nobody opened it to write within ", limits.writerMilliseconds,
                       " milliseconds");
    if (n >= 0)
      return static_cast<size_t>(n);
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN)
      return systemError("read", path, errno);
    TENON_ASSIGN_OR_RETURN(isReady, waitForBytes(fd, path, limits.silenceMilliseconds));
    if (!isReady)
      return makeError(StatusCode::FailedPrecondition, "cannot read '", path,
                       "': it is a named pipe, and nobody wrote to it for ", limits.silenceMilliseconds,
                       " milliseconds");
  }
}

static Result<size_t> readOnce(int fd, const std::string &path, char *out, size_t bytes) {
  ssize_t n = 0;
  do
    n = ::read(fd, out, bytes);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return systemError("read", path, errno);
  return static_cast<size_t>(n);
}

/// Reads everything up to the end of `fd`, which probably comes after `expected` bytes.
static Status readAll(int fd, const std::string &path, bool isNamedPipe, uint64_t expected, const ReadLimits &limits,
                      std::string &out) {
  const uint64_t most = std::max(expected, limits.bytes);
  const std::string what = concat("'", path, "'");
  size_t have = 0;
  TENON_RETURN_IF_ERROR(resizeChecked(out, expected + 1, what)); // one more byte: the end shows in the same call
  for (;;) {
    if (have == out.size())
      TENON_RETURN_IF_ERROR(resizeChecked(out, have + std::max(have, kChunk), what));
    char *end = out.data() + have;
    const size_t room = out.size() - have;
    TENON_ASSIGN_OR_RETURN(const size_t n, isNamedPipe ? readFromPipe(fd, path, limits, have == 0, end, room)
                                                       : readOnce(fd, path, end, room));
    if (n == 0) {
      out.resize(have);
      return okStatus();
    }
    have += n;
    if (have > most)
      return makeError(StatusCode::ResourceExhausted, "cannot read '", path, "': it does not end within ", most,
                       " bytes");
  }
}

/// What is no file, in words; empty: it can be read to an end.
static std::string_view kindWithoutEnd(const struct stat &info, int fd) {
  if (S_ISBLK(info.st_mode))
    return "a block device";
  if (S_ISSOCK(info.st_mode))
    return "a socket";
  if (S_ISCHR(info.st_mode) && info.st_rdev != makedev(1, 3) && !::isatty(fd)) // 1, 3: /dev/null
    return "a device";
  return "";
}

/// N of /dev/fd/N and its kin, which name a descriptor of this process.
static std::optional<int> descriptorOf(std::string_view path) {
  if (path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr")
    return path == "/dev/stdin" ? STDIN_FILENO : path == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO;
  for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"})
    if (path.starts_with(folder))
      return parseNumber<int>(path.substr(folder.size()));
  return std::nullopt;
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

static Result<std::string> readOpened(int fd, const std::string &path, const ReadLimits &limits) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0)
    return systemError("read", path, errno);
  if (S_ISDIR(info.st_mode))
    return systemError("read", path, EISDIR);
  if (limits.onlyFiles && !S_ISREG(info.st_mode))
    return makeError(StatusCode::FailedPrecondition, "cannot read '", path, "': it is no file");
  if (const std::string_view kind = kindWithoutEnd(info, fd); !kind.empty())
    return makeError(StatusCode::FailedPrecondition, "cannot read '", path, "': it is ", kind, ", expected a file");
  if (S_ISCHR(info.st_mode) && fd != STDIN_FILENO && ::fcntl(fd, F_SETFL, 0) < 0) // a terminal is waited for
    return systemError("read", path, errno);
  // Pipes without a name have a writer: whoever made them.
  const bool isNamedPipe = S_ISFIFO(info.st_mode) && path != "-" && !descriptorOf(path);
  const uint64_t expected = S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0;
  std::string bytes;
  TENON_RETURN_IF_ERROR(readAll(fd, path, isNamedPipe, expected, limits, bytes));
  return bytes;
}

Result<std::string> readFile(const std::string &path, const ReadLimits &limits) {
  if (path == "-")
    return readOpened(STDIN_FILENO, path, limits);
  // Opening a pipe does not wait for its writer this way. On a file it changes nothing.
  const int flags = descriptorOf(path) ? O_RDONLY : O_RDONLY | O_NONBLOCK;
  const int fd = openRetrying(path.c_str(), flags);
  struct stat info = {};
  if (fd < 0 && errno == ENXIO && ::stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode))
    return makeError(StatusCode::FailedPrecondition, "cannot read '", path, "': it is a socket, expected a file");
  if (fd < 0)
    return systemError("read", path, errno);
  Result<std::string> bytes = readOpened(fd, path, limits);
  ::close(fd);
  return bytes;
}

/// Into a descriptor that is open already, from where it stands.
static Status writeToDescriptor(int fd, const std::string &path, std::string_view bytes) {
  const int error = writeAll(fd, bytes);
  return error ? systemError("write", path, error) : okStatus();
}

/// A named pipe is opened once somebody reads it, which has to be soon.
static int openInPlace(const std::string &path) {
  constexpr int kPauseMilliseconds = 10;
  int fd = -1;
  for (int waited = 0; waited <= kReaderMilliseconds; waited += kPauseMilliseconds) {
    fd = openRetrying(path.c_str(), O_WRONLY | O_NONBLOCK);
    if (fd >= 0 || errno != ENXIO)
      break;
    ::poll(nullptr, 0, kPauseMilliseconds);
  }
  if (fd >= 0 && ::fcntl(fd, F_SETFL, 0) < 0) { // writing waits
    ::close(fd);
    return -1;
  }
  return fd;
}

static Status writeInPlace(const std::string &path, std::string_view bytes) {
  const int fd = openInPlace(path);
  if (fd < 0 && errno == ENXIO)
    return makeError(StatusCode::FailedPrecondition, "cannot write '", path, "': nobody opened it to read within ",
                     kReaderMilliseconds, " milliseconds");
  if (fd < 0)
    return systemError("write", path, errno);
  int error = writeAll(fd, bytes);
  if (::close(fd) != 0 && !error)
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
  if (path == "-")
    return writeToDescriptor(STDOUT_FILENO, path, bytes);
  if (const std::optional<int> fd = descriptorOf(path))
    return writeToDescriptor(*fd, path, bytes);
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return S_ISDIR(info.st_mode) ? systemError("write", path, EISDIR) : writeInPlace(path, bytes);
  std::string temporary;
  int fd = openTemporary(path, temporary);
  if (fd < 0)
    return systemError("write", path, errno);
  int error = writeAll(fd, bytes);
  if (::close(fd) != 0 && !error)
    error = errno;
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0)
    error = errno;
  if (!error)
    return okStatus();
  ::unlink(temporary.c_str());
  return systemError("write", path, error);
}

Status checkOutputIsNotInput(const std::string &output, const std::string &input) {
  struct stat out = {}, in = {}; // of a link as output itself: it alone is replaced
  if (output == "-" || input == "-" || ::lstat(output.c_str(), &out) != 0 || ::stat(input.c_str(), &in) != 0 ||
      !S_ISREG(out.st_mode) || out.st_dev != in.st_dev || out.st_ino != in.st_ino)
    return okStatus();
  return makeError(StatusCode::InvalidArgument, "the output '", output, "' is the input",
                   output == input ? std::string() : concat(" '", input, "'"), ", which would be lost");
}

/// Whether what is written to the one is lost as the other is written, whatever they are called: devices, pipes and
/// descriptors take both.
static bool areOneFile(const std::string &one, const std::string &other) {
  auto folderOf = [](const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string(".") : path.substr(0, slash + 1);
  };
  auto nameOf = [](const std::string &path) { return path.substr(path.rfind('/') + 1); };
  struct stat info = {}, first = {}, second = {};
  if (one.empty() || one == "-" || descriptorOf(one) || nameOf(one) != nameOf(other) ||
      (::stat(one.c_str(), &info) == 0 && !S_ISREG(info.st_mode)))
    return false;
  return one == other || (::stat(folderOf(one).c_str(), &first) == 0 && ::stat(folderOf(other).c_str(), &second) == 0 &&
                          first.st_dev == second.st_dev && first.st_ino == second.st_ino);
}

Status checkOutputs(std::span<const std::string> outputs, std::span<const std::string> inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const std::string &input : inputs)
      if (Status status = checkOutputIsNotInput(outputs[i], input); !status.ok())
        return status;
    for (size_t j = 0; j < i; ++j)
      if (areOneFile(outputs[i], outputs[j]))
        return makeError(StatusCode::InvalidArgument, "two outputs are called '", outputs[j], "'",
                         outputs[i] == outputs[j] ? std::string() : concat(" and '", outputs[i], "'"),
                         ", one of which would be lost");
  }
  return okStatus();
}

} // namespace tenon
