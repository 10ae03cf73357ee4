// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads, changes and writes one element of memory, as atom, red and reducing copies do. While other blocks of the
// launch run on other threads (machine/grid.h) this is atomic; otherwise it is not, because the processor's atomic
// instructions are slow.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tenon::emulator {

template <uint32_t Bytes>
using BitsOf =
    std::conditional_t<Bytes == 1, uint8_t,
                       std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

/// Replaces what is in `cell`, aligned to its size; returns what was there. contended: others may do the same now.
template <typename T, typename F> inline T replaceCell(T *cell, bool contended, F change) {
  if (!contended) {
    T old = *cell;
    *cell = change(old);
    return old;
  }
  using Bits = BitsOf<sizeof(T)>;
  Bits *bits = reinterpret_cast<Bits *>(cell), old = __atomic_load_n(bits, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(bits, &old, std::bit_cast<Bits>(change(std::bit_cast<T>(old))), false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return std::bit_cast<T>(old);
}

} // namespace tenon::emulator
