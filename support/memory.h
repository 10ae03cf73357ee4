// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory whose size comes from outside: a file, a shape on a command line, a count in a caller's struct. Exceptions are
// off, so a container that cannot grow ends the process. Whoever sizes one by input asks here first, and gets an error
// that he can hand on. What is small whatever the input says needs no asking; where even that fails, a tool ends with
// one line (reportMissingMemory).
#pragma once

#include "support/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// What the process may still take before a limit of its control groups, or of one above them, ends it: a container's,
/// a batch job's. Nothing: there is no limit.
/// @param membership  the text of /proc/self/cgroup
/// @param root        where the control groups are mounted
std::optional<uint64_t> freeInControlGroups(std::string_view membership, const std::string &root = "/sys/fs/cgroup");

/// ResourceExhausted, with `what` ("the elements of 8xf32") and the bytes, where `bytes` cannot be had now: the system
/// gives no addresses for them (RLIMIT_AS), or they are more than the memory that is free, in the machine or under the
/// limit of a control group, so that touching them would end this process or another.
Status checkMemory(uint64_t bytes, std::string_view what);

/// checkMemory() for `count` elements, then `container` has so many: the first keep their values, new ones are zero.
template <typename Container> Status resizeChecked(Container &container, uint64_t count, std::string_view what) {
  constexpr uint64_t kElementBytes = sizeof(typename Container::value_type);
  if (count > container.capacity()) {
    if (count > UINT64_MAX / kElementBytes)
      return checkMemory(UINT64_MAX, what);
    TENON_RETURN_IF_ERROR(checkMemory(count * kElementBytes, what));
  }
  container.resize(static_cast<size_t>(count));
  return okStatus();
}

/// For tools, once: an allocation that nobody asked about, and that fails, ends the process with status 1 and
/// "PROGRAM: error: out of memory". `program` must live on.
void reportMissingMemory(const char *program);

} // namespace tenon
