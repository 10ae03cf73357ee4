// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contiguous range of memory that one thread's instruction moves at once: more than the few bytes per lane that
// access_check.h resolves. Addresses are generic; an address in the shared window may name another block of the
// cluster.
#pragma once

#include "emulator/machine/machine.h"

namespace tenon::emulator {

struct RangeAccess {
  uint64_t bytes = 0;
  uint32_t alignment = 1; // a power of two
  bool isWrite = false;
  const char *what = ""; // for the report: "the source of a bulk copy"
};

/// Host address of [address, address + access.bytes), or null and a fault of lane `lane`.
uint8_t *rangeAt(Warp &warp, const Decoded &instruction, uint32_t lane, uint64_t address, const RangeAccess &access);

} // namespace tenon::emulator
