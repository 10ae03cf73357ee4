// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/first_fault.h"

#include "runtime/cuda/driver.h"

#include <map>
#include <mutex>

namespace tenon::runtime::cuda {

namespace {
/// By library: the emulator and a GPU may both be in one process. Never destroyed: queues may end after main.
struct Faults {
  std::mutex mutex; // guards what follows
  std::map<std::string, std::string> first;
};
Faults &faults() {
  static auto *faults = new Faults();
  return *faults;
}
} // namespace

void rememberFault(const Driver &driver, std::string_view device, const Status &fault) {
  std::lock_guard lock(faults().mutex);
  faults().first.try_emplace(driver.path(), concat(device, ": ", fault.message()));
}

std::string firstFault(const Driver &driver) {
  std::lock_guard lock(faults().mutex);
  auto found = faults().first.find(driver.path());
  return found == faults().first.end() ? std::string() : found->second;
}

void forgetFaults() {
  std::lock_guard lock(faults().mutex);
  faults().first.clear();
}

} // namespace tenon::runtime::cuda
