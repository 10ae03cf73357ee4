// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small products of few rows, as a recurrent network has one for each step and a decoder for each token. Their matrix
// comes from the second-level cache, and what they take is the way there and back. Tiles of 64 columns leave most
// multiprocessors without one; blocks of 16 columns that share their sum (skinny) are on four times as many.
#pragma once

#include "abi/arch_table.h"

#include <cstdint>

namespace tenon::compiler::dispatch {

/// So many rows are few where the product is small, and its matrix is only read. Of more, each block reads the rows for
/// longer than it multiplies (an H200, 64 x 512 x 512: 3.3 us, in tiles 3.0).
inline constexpr int64_t kMostFewOfSmall = 32;

/// Sums that eight warps take in a few steps each.
inline constexpr int64_t kMostReducedOfSmall = 2048;

/// One round of blocks on a large device, and sums that are no longer than that. An H200, chains of 16
/// products of 32 rows, bf16, microseconds each, in tiles and so: 512 x 512 2.8 and 2.1, 1024 x 1024 4.2 and 2.7,
/// 2048 x 2048 5.9 and 5.4; of larger ones tiles are as fast.
/// @param wide columns of all matrices of a batch
constexpr bool isSmallProduct(int64_t wide, int64_t reduced) {
  constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors, kColumnsOfBlock = 16;
  return wide <= kMultiprocessors * kColumnsOfBlock && reduced <= kMostReducedOfSmall;
}

} // namespace tenon::compiler::dispatch
