// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A context: what work runs in, and where the error of a failed kernel stays. Which one is current in a thread is in
// driver.h; making and destroying them is in api/context.cpp.
#pragma once

#include "emulator/driver/operation.h"
#include "emulator/handlers/builtins.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace tenon::emulator {

struct Device;
struct Stream;

struct Context {
  Device *device = nullptr;
  bool isPrimary = false;
  bool active = false;
  unsigned flags = 0;
  int sticky = 0; // once a kernel failed, every call returns this code
  size_t stackLimit = 1024, printfLimit = 1 << 20, heapLimit = 8 << 20;
  DeviceServices services;
  uint64_t gridWorkspace = 0;
  std::shared_ptr<Stream> defaultStream; // the legacy one; there for as long as the context
  std::map<std::thread::id, std::shared_ptr<Stream>> perThreadStreams;
  std::set<Context *> peers;         // whose memory kernels reach
  std::vector<OperationPtr> orphans; // last operations of destroyed blocking streams
};

} // namespace tenon::emulator
