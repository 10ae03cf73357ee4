// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A permutation of [0, count) by a seed, without a table: for orders that a device may choose freely.
#pragma once

#include "support/random.h"

#include <cstdint>
#include <numeric>

namespace tenon::emulator {

/// Where `index` stands. Seed 0: where it was. index < count.
inline uint64_t permuted(uint64_t index, uint64_t count, uint64_t seed) {
  if (!seed || count < 2)
    return index;
  const uint64_t z = SplitMix64(seed).next();
  // Steps of a length that has no common factor with the count visit every place once.
  uint64_t step = (z >> 32) % count;
  while (std::gcd(step, count) != 1)
    step = (step + 1) % count;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(index) * step + z % count) % count);
}

} // namespace tenon::emulator
