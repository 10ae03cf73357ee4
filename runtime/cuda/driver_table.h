// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of a CUDA driver, one pointer each (driver_symbols.inc lists them), and the library that they are of.
// Calls read as the driver API does: driver.cuMemAlloc_v2(&pointer, bytes).
#pragma once

#include <cuda.h>
#include <string>

namespace tenon::runtime::cuda {

class DriverTable {
public:
  /// The library that was opened.
  const std::string &path() const { return path_; }
  /// The process that initialised it, 0 before: none that is forked from that one later can use it.
  int process() const { return process_; }

#define TENON_DRIVER_SYMBOL(name) decltype(&::name) name = nullptr;
#define TENON_DRIVER_OPTIONAL_SYMBOL(name) TENON_DRIVER_SYMBOL(name)
#include "runtime/cuda/driver_symbols.inc"
#undef TENON_DRIVER_OPTIONAL_SYMBOL
#undef TENON_DRIVER_SYMBOL
  /// Of the emulator, else null: at byte `offset` of parameter `index` stands a pointer that the kernel must not write
  /// through; a report calls it `name`.
  bool (*readOnlyPointer)(CUfunction function, size_t index, size_t offset, const char *name) = nullptr;
  /// Of the emulator, else null: where the host may read and write `bytes` bytes of device memory; null: they are in no
  /// live allocation.
  void *(*hostPointer)(CUdeviceptr address, size_t bytes) = nullptr;
  /// Of the emulator, else null: its reports call the module that this thread loads next `name`.
  void (*nameModule)(const char *name) = nullptr;
  /// Of the emulator, else null: ends the launch that runs, with a report; a signal handler may call it. False: none
  /// runs.
  bool (*interrupt)() = nullptr;
  /// Of the emulator, else null: why the last kernel failed or was refused, up to `capacity` bytes with a NUL behind
  /// them. Returns the length.
  size_t (*lastReport)(char *buffer, size_t capacity) = nullptr;

protected:
  std::string path_;
  int process_ = 0;
};

} // namespace tenon::runtime::cuda
