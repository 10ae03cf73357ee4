// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums down columns that lie side by side in rows of an odd number of them: there are no vectors, and tiles of the
// usual width may be mostly empty. Then a block is as wide as all columns.
#pragma once

#include <cstdint>

namespace tenon::compiler::dispatch {

/// Whether tiles of 64 would leave more than a third of their threads without a column. (Of a quarter, sums down 95
/// columns of bf16 took 15.5 us of an H200 instead of 12.8, places of the largest down 45 of f32 66 instead of 61.)
constexpr bool areTakenOneByOne(int64_t columns) {
  constexpr int64_t kTile = 64, kMost = 128;
  const int64_t places = (columns + kTile - 1) / kTile * kTile;
  return columns > 1 && columns % 2 != 0 && columns <= kMost && 3 * columns < 2 * places;
}

} // namespace tenon::compiler::dispatch
