// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier: a barrier that is an object of 64 bits in shared memory. Threads arrive, and asynchronous copies count
// their bytes against it (tx-count); when nothing is pending and no bytes are awaited, the phase completes: the parity
// flips and the expected arrivals are pending again. Waiting is asking: test_wait and try_wait say whether a phase
// completed.
//
// The bits of the object are the device's own business; here, from the lowest: expected arrivals (20), pending arrivals
// (20), parity (1), awaited bytes (21, signed), a mark that it was initialised (2).
//
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
#pragma once

#include <cstdint>

namespace tenon::emulator {

inline constexpr uint32_t kMbarrierMost = (1u << 20) - 1; // arrivals, and bytes awaited

struct Mbarrier {
  uint32_t expected = 0, pending = 0;
  bool parity = false; // of the phase that is not complete
  int64_t bytes = 0;   // awaited

  /// True: the bits are those of an initialised object.
  static bool isValid(uint64_t bits) { return bits >> 62 == kMark; }
  static Mbarrier unpack(uint64_t bits);
  uint64_t pack() const;
  void completeIfDone();
  /// `count` bytes came. Returns what is wrong, or null.
  const char *completeBytes(uint64_t count);

private:
  static constexpr uint64_t kMark = 2;
};
/// Bytes that came for the object. Returns what is wrong, or null.
const char *completeBytes(uint64_t *object, uint32_t bytes);

} // namespace tenon::emulator
