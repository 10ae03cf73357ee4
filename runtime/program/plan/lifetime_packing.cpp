// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First fit by decreasing size: not optimal, within a few percent of it for the lifetimes that programs have, and a
// pure function of its input.
#include "runtime/program/plan/lifetime_packing.h"

#include "runtime/memory/device_memory.h"
#include "support/align.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tenon::runtime {

namespace {

constexpr uint64_t kTooLarge = ~uint64_t(0);
constexpr uint64_t kMost = std::numeric_limits<int64_t>::max() / 2;

uint64_t rounded(uint64_t bytes) {
  return alignUp(bytes, kBufferAlignment);
}

bool meet(const PackedPiece &a, const PackedPiece &b) {
  return a.first <= b.last && b.first <= a.last;
}

} // namespace

uint64_t packByLifetime(std::vector<PackedPiece> &pieces) {
  std::vector<uint32_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return pieces[a].bytes != pieces[b].bytes ? pieces[a].bytes > pieces[b].bytes : a < b;
  });

  uint64_t total = 0;
  std::vector<uint32_t> placed; // by offset
  for (uint32_t index : order) {
    PackedPiece &piece = pieces[index];
    if (piece.bytes > kMost)
      return kTooLarge;
    piece.offset = 0;
    for (uint32_t other : placed) {
      const PackedPiece &there = pieces[other];
      if (meet(piece, there) && piece.offset < there.offset + rounded(there.bytes) &&
          there.offset < piece.offset + rounded(piece.bytes))
        piece.offset = there.offset + rounded(there.bytes);
    }
    if (piece.offset > kMost)
      return kTooLarge;
    total = std::max(total, piece.offset + rounded(piece.bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), index,
                                   [&](uint32_t a, uint32_t b) { return pieces[a].offset < pieces[b].offset; }),
                  index);
  }
  return total;
}

} // namespace tenon::runtime
