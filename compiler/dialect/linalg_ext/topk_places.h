// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many of a line's best a block keeps in shared memory. The kernels have it from here (codegen/along/sorting), and
// so has the input, which makes a top-k of more than that a sort of whole lines before there are kernels.
#pragma once

#include "llvm/ADT/bit.h"

#include <cstdint>
#include <optional>

namespace tenon::compiler::linalg_ext {

/// Bytes of shared memory for the entries of a block, an element and its place each: several blocks fit a
/// multiprocessor.
inline constexpr int64_t kTopkEntryBytes = 40960;

/// Of a place in a line and the best before it, `length` and `best` of them; nothing: not known.
constexpr uint32_t topkPlaceBits(std::optional<int64_t> length, std::optional<int64_t> best) {
  return length && best && *length + *best < (int64_t(1) << 31) ? 32 : 64;
}

/// Entries of a block. Half of them can be the best: the other half is what came since.
constexpr int64_t topkEntries(int64_t elementBytes, uint32_t placeBits) {
  return int64_t(llvm::bit_floor(uint64_t(kTopkEntryBytes / (elementBytes + int64_t(placeBits) / 8))));
}

} // namespace tenon::compiler::linalg_ext
