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

#define TENON_DRIVER_SYMBOL(name) decltype(&::name) name = nullptr;
#define TENON_DRIVER_OPTIONAL_SYMBOL(name) TENON_DRIVER_SYMBOL(name)
#include "runtime/cuda/driver_symbols.inc"
#undef TENON_DRIVER_OPTIONAL_SYMBOL
#undef TENON_DRIVER_SYMBOL
  /// Of the emulator, else null: parameter `index` of the kernel is a pointer that it must not write through; a report
  /// calls it `name`.
  bool (*readOnlyParameter)(CUfunction function, size_t index, const char *name) = nullptr;

protected:
  std::string path_;
};

} // namespace tenon::runtime::cuda
