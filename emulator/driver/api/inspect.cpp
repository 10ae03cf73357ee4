// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts come from the registries of driver.h: what they hold is what a program has not given back.
#include "emulator/driver/api/inspect.h"

#include "emulator/driver/context.h"
#include "emulator/driver/device.h"
#include "emulator/driver/driver.h"
#include "emulator/driver/function_names.h"

#include <iterator>

namespace tenon::emulator {

bool setFailures(const char *plan) {
  Driver &driver = emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  driver.failuresRead = true;
  return driver.failures.parse(plan ? plan : "", functionNames()).empty();
}

uint64_t failuresMade() {
  Driver &driver = emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  return driver.failures.made();
}

bool liveObjects(size_t index, const char **name, uint64_t *count) {
  struct Kind {
    const char *name;
    uint64_t (*count)(const Driver &);
  };
  static constexpr Kind kKinds[] = {
      {"context references",
       [](const Driver &driver) {
         uint64_t references = driver.ownedContexts.size();
         for (const auto &device : driver.devices)
           references += static_cast<uint64_t>(device->primaryReferences);
         return references;
       }},
      {"bytes of device memory",
       [](const Driver &driver) {
         uint64_t bytes = 0;
         for (const auto &device : driver.devices)
           bytes += device->memory->used();
         return bytes;
       }},
      {"allocations of pools",
       [](const Driver &driver) {
         uint64_t allocations = 0;
         for (const auto &device : driver.devices)
           allocations += device->pooledAllocations.size();
         return allocations;
       }},
      {"pinned allocations", [](const Driver &driver) -> uint64_t { return driver.pinnedFlags.size(); }},
      {"registered ranges", [](const Driver &driver) -> uint64_t { return driver.registered.size(); }},
      {"memory handles", [](const Driver &driver) -> uint64_t { return driver.physicalMemory.size(); }},
      {"ranges of reserved addresses", [](const Driver &driver) -> uint64_t { return driver.addressRanges.size(); }},
      {"modules", [](const Driver &driver) -> uint64_t { return driver.modules.size(); }},
      {"streams", [](const Driver &driver) -> uint64_t { return driver.streams.size(); }},
      {"events", [](const Driver &driver) -> uint64_t { return driver.events.size(); }},
      {"graphs", [](const Driver &driver) -> uint64_t { return driver.graphs.size(); }},
      {"executable graphs", [](const Driver &driver) -> uint64_t { return driver.graphExecs.size(); }},
      {"captures", [](const Driver &driver) -> uint64_t { return driver.captures.size(); }},
      {"pools", [](const Driver &driver) -> uint64_t { return driver.pools.size(); }},
  };
  if (index >= std::size(kKinds))
    return false;
  Driver &driver = emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  *name = kKinds[index].name;
  *count = kKinds[index].count(driver);
  return true;
}

} // namespace tenon::emulator
