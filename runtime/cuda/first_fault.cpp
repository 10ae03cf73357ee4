// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One map of the process, behind a lock.
#include "runtime/cuda/first_fault.h"

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

void rememberFault(const std::string &driverPath, std::string_view device, const Status &fault) {
  std::lock_guard lock(faults().mutex);
  faults().first.try_emplace(driverPath, concat(device, ": ", fault.message()));
}

std::string firstFault(const std::string &driverPath) {
  std::lock_guard lock(faults().mutex);
  auto found = faults().first.find(driverPath);
  return found == faults().first.end() ? std::string() : found->second;
}

void forgetFaults() {
  std::lock_guard lock(faults().mutex);
  faults().first.clear();
}

} // namespace tenon::runtime::cuda
