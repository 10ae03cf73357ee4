// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014): a generator of 64 bits that
// is small and gives the same numbers everywhere. For test data and for orders that may be chosen freely; not a secret.
#pragma once

#include <cstdint>

namespace tenon {

class SplitMix64 {
public:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;

  /// Every seed, 0 included, gives a sequence of its own.
  constexpr explicit SplitMix64(uint64_t seed) : state_(seed) {}

  constexpr uint64_t next() {
    uint64_t z = state_ += kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, 1), of 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state_;
};

} // namespace tenon
