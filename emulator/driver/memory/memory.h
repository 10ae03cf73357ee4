// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of devices as the driver gives it out: allocations, and whose memory an address is.
#pragma once

#include "emulator/memory/memory.h"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace tenon::emulator {

struct Context;
struct Device;
struct Driver;

/// The device whose memory holds the address, or null.
Device *deviceOf(Driver &driver, uint64_t address);
CUresult allocateMemory(Context *context, CUdeviceptr *out, size_t bytes, AllocationKind kind);
/// Frees an allocation of one of these kinds that begins at `address`; null is no allocation and no error.
CUresult releaseMemory(Driver &driver, CUdeviceptr address, std::initializer_list<AllocationKind> kinds);
/// The host pointer, as unified addressing has it.
inline CUdeviceptr hostAddress(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

} // namespace tenon::emulator
