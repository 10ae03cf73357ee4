// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A permutation of [0, count) by a seed, without a table: for orders that a device may choose freely.
#pragma once

#include <cstdint>
#include <numeric>

namespace tenon::emulator {

/// Where `index` stands. Seed 0: where it was. index < count.
inline uint64_t shuffled(uint64_t index, uint64_t count, uint64_t seed) {
  if (!seed || count < 2)
    return index;
  uint64_t z = seed * 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z ^= z >> 27;
  // Steps of a length that has no common factor with the count visit every place once.
  uint64_t step = (z >> 32) % count;
  while (std::gcd(step, count) != 1)
    step = (step + 1) % count;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(index) * step + z % count) % count);
}

} // namespace tenon::emulator
