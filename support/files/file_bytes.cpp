// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mapping ends with the rest of its last page, which is zero: the NUL behind the text. A file that fills its last
// page has none, and is copied like a small one, for which mapping would cost more than it saves.
#include "support/files/file_bytes.h"

#include "support/files/file.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tenon {
namespace {

constexpr size_t kSmallest = 16 << 10;
/// Some file systems count whole seconds, one even two: a second write would not show before.
constexpr int64_t kClockGrain = 2'000'000'000;

int64_t nanoseconds(const timespec &time) {
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// What a write, a truncation or another file under the same path changes.
struct Identity {
  explicit Identity(const struct stat &info)
      : device(info.st_dev), inode(info.st_ino), size(info.st_size), modified(nanoseconds(info.st_mtim)),
        changed(nanoseconds(info.st_ctim)) {}
  bool operator==(const Identity &) const = default;

  dev_t device;
  ino_t inode;
  off_t size;
  int64_t modified, changed;
};

bool isWorthMapping(const struct stat &info) {
  const auto page = static_cast<off_t>(::sysconf(_SC_PAGESIZE));
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return S_ISREG(info.st_mode) && info.st_size >= off_t(kSmallest) && info.st_size % page != 0 &&
         nanoseconds(now) - nanoseconds(info.st_ctim) > kClockGrain;
}

/// Mappings for the signal handler, which takes no locks: entries are only ever added, and marked when they end.
struct Listed {
  std::atomic<const char *> begin = nullptr;
  size_t size = 0;
  std::string path;
  Listed *next = nullptr;
};
std::atomic<Listed *> firstListed = nullptr;

const char *programName = nullptr;

void write(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void onBusError(int signal, siginfo_t *info, void *) {
  const char *where = static_cast<const char *>(info->si_addr);
  for (const Listed *mapping = firstListed; mapping; mapping = mapping->next) {
    const char *begin = mapping->begin;
    if (!begin || where < begin || where >= begin + mapping->size)
      continue;
    write(programName);
    write(": error: '");
    write(mapping->path);
    write("' was cut short while it was read\nfix: let whatever writes the file finish first\n");
    ::_exit(1);
  }
  std::signal(signal, SIG_DFL); // the access is tried again, and ends the process as it would have
}

} // namespace

struct FileBytes::Mapping {
  Mapping(std::string path, const struct stat &info, void *address)
      : path(std::move(path)), identity(info), address(address), listed(new Listed) {
    listed->begin = static_cast<const char *>(address);
    listed->size = size_t(info.st_size);
    listed->path = this->path;
    listed->next = firstListed;
    while (!firstListed.compare_exchange_weak(listed->next, listed)) {
    }
  }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping() {
    listed->begin = nullptr;
    ::munmap(address, size_t(identity.size));
  }

  std::string path;
  Identity identity;
  void *address;
  Listed *listed; // never freed: a handler may be looking
};

FileBytes::FileBytes(std::string bytes) {
  auto kept = std::make_shared<const std::string>(std::move(bytes));
  view_ = *kept;
  keeper_ = std::move(kept);
}

Result<FileBytes> FileBytes::read(const std::string &path) {
  struct stat info{};
  // What is no file is not even opened here: a pipe would have had its reader.
  const bool isFile = path != "-" && ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  const int fd = isFile ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  FileBytes mapped;
  if (fd >= 0 && ::fstat(fd, &info) == 0 && isWorthMapping(info)) {
    void *address = ::mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (address != MAP_FAILED) {
      mapped.keeper_ = std::make_shared<const Mapping>(path, info, address);
      mapped.view_ = {static_cast<const char *>(address), size_t(info.st_size)};
      mapped.isMapped_ = true;
    }
  }
  if (fd >= 0)
    ::close(fd);
  if (mapped.isMapped_)
    return mapped;
  TENON_ASSIGN_OR_RETURN(std::string bytes, readFile(path));
  return FileBytes(std::move(bytes));
}

Status FileBytes::unchanged() const {
  if (!isMapped_)
    return okStatus();
  const auto &mapping = *static_cast<const Mapping *>(keeper_.get());
  struct stat info{};
  if (::stat(mapping.path.c_str(), &info) == 0 && Identity(info) == mapping.identity)
    return okStatus();
  return makeError(StatusCode::FailedPrecondition, "'", mapping.path, "' was changed while it was read");
}

void reportLostBytes(const char *program) {
  programName = program;
  struct sigaction action{};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

} // namespace tenon
