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

/// Memory that may be had without ending somebody; nothing: the system does not say.
std::optional<uint64_t> freeMemory() {
  const int fd = ::open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::nullopt;
  char text[4096];
  const ssize_t size = ::read(fd, text, sizeof(text));
  ::close(fd);
  if (size <= 0)
    return std::nullopt;
  const std::string_view all(text, static_cast<size_t>(size));
  const uint64_t available = bytesOf(all, "MemAvailable:");
  return available == 0 ? std::nullopt : std::optional(available + bytesOf(all, "SwapFree:"));
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
