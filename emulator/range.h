// A contiguous range of memory that one thread's instruction moves at once: more than the few bytes per lane that
// check.h resolves. Addresses are generic; an address in the shared window may name another block of the cluster.
#pragma once

#include "emulator/handlers.h"
#include "emulator/machine.h"

namespace tenon::emulator {

struct RangeAccess {
  uint64_t bytes = 0;
  uint32_t alignment = 1; // a power of two
  bool isWrite = false;
  const char *what = ""; // for the report: "the source of a bulk copy"
};

/// Host address of [address, address + access.bytes), or null and a fault of lane `lane`.
uint8_t *rangeAt(Warp &warp, const Decoded &instruction, uint32_t lane, uint64_t address, const RangeAccess &access);

/// The generic address that lane `lane` has in operand `base` (a register of 4 or 8 bytes by `mode`), `offset` added.
/// Shared: the register holds an address in the shared window.
uint64_t genericAddress(Warp &warp, AddressMode mode, uint32_t base, int64_t offset, bool isShared, uint32_t lane);

} // namespace tenon::emulator
