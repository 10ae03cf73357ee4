// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linux promises more memory than it has and ends a process when the promise is called in. So a large request is held
// against what is free, and every request against what the address space still takes.
#include "support/memory.h"

#include "support/number.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <optional>
#include <unistd.h>

namespace tenon {
namespace {

/// Below, asking the system costs more than it tells.
constexpr uint64_t kLarge = uint64_t(256) << 20;

/// The number behind `name` in /proc/meminfo, in bytes.
uint64_t bytesOf(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos)
    return 0;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return takeNumber<uint64_t>(text).value_or(0) << 10;
}

/// The beginning of a small file; empty: it cannot be read.
std::string beginningOf(const std::string &path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return {};
  std::string text(4096, '\0');
  const ssize_t size = ::read(fd, text.data(), text.size());
  ::close(fd);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

/// Memory that may be had without ending somebody; nothing: the system does not say.
std::optional<uint64_t> freeMemory() {
  const std::string text = beginningOf("/proc/meminfo");
  const uint64_t available = bytesOf(text, "MemAvailable:");
  std::optional<uint64_t> free;
  if (available != 0)
    free = available + bytesOf(text, "SwapFree:");
  if (const std::optional<uint64_t> allowed = freeInControlGroups(beginningOf("/proc/self/cgroup")))
    free = std::min(free.value_or(UINT64_MAX), *allowed);
  return free;
}

/// The number that a file of a control group begins with; nothing: it is not there, or says "max".
std::optional<uint64_t> numberOf(const std::string &path) {
  const std::string text = beginningOf(path);
  std::string_view rest = text;
  return takeNumber<uint64_t>(rest);
}

/// Of one group, whose files have names of the first or of the second version. What is kept of files that were read
/// counts as used, and goes when memory is asked for.
std::optional<uint64_t> freeInGroup(const std::string &folder, bool isSecond) {
  const std::optional<uint64_t> limit = numberOf(folder + (isSecond ? "/memory.max" : "/memory.limit_in_bytes"));
  const std::optional<uint64_t> used = numberOf(folder + (isSecond ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!limit || !used)
    return std::nullopt;
  const std::string statistics = beginningOf(folder + "/memory.stat");
  const std::string_view name = isSecond ? "\ninactive_file " : "\ntotal_inactive_file ";
  uint64_t files = 0;
  if (const size_t at = statistics.find(name); at != std::string::npos) {
    std::string_view rest = std::string_view(statistics).substr(at + name.size());
    files = takeNumber<uint64_t>(rest).value_or(0);
  }
  const uint64_t kept = *used - std::min(files, *used);
  return *limit - std::min(kept, *limit);
}

const char *programName = "";

void onMissingMemory() {
  // No stream, no string: they would ask for memory.
  for (const char *part : {programName, ": error: out of memory\n"})
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0)
      break;
  ::_exit(1);
}

} // namespace

std::optional<uint64_t> freeInControlGroups(std::string_view membership, const std::string &root) {
  std::optional<uint64_t> least;
  while (!membership.empty()) { // "4:memory:/jobs/7" in the first version, "0::/jobs/7" in the second
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(line.size() + 1, membership.size()));
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos)
      continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool isSecond = controllers.empty();
    if (!isSecond && controllers != "memory")
      continue;
    // In a container the group's own folder may be the root, and the path one of outside.
    for (std::string path(line.substr(second + 1));; path.resize(path.rfind('/'))) {
      if (!path.empty() && path.back() == '/')
        path.pop_back();
      const std::string folder = concat(root, isSecond ? "" : "/memory", path);
      if (const std::optional<uint64_t> free = freeInGroup(folder, isSecond))
        least = std::min(least.value_or(UINT64_MAX), *free);
      if (path.find('/') == std::string::npos)
        break;
    }
  }
  return least;
}

Status checkMemory(uint64_t bytes, std::string_view what) {
  if (bytes == 0)
    return okStatus();
  if (bytes >= kLarge)
    if (const std::optional<uint64_t> free = freeMemory(); free && bytes > *free)
      return makeError(StatusCode::ResourceExhausted, "not enough memory for ", what, ": ", bytes, " bytes, ", *free,
                       " are free");
  void *volatile probe = // volatile: or the compiler takes the pair away, and its answer for granted
      bytes > uint64_t(PTRDIFF_MAX) ? nullptr : std::malloc(bytes);
  if (!probe)
    return makeError(StatusCode::ResourceExhausted, "not enough memory for ", what, ": ", bytes, " bytes");
  std::free(probe);
  return okStatus();
}

void reportMissingMemory(const char *program) {
  programName = program;
  std::set_new_handler(onMissingMemory);
}

} // namespace tenon
