// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two maps that always say the same.
#include "runtime/memory/free_ranges.h"

#include "support/align.h"

#include <algorithm>
#include <atomic>

namespace tenon::runtime {

uint64_t nextFreePoint() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void joinFrontier(Frontier &into, const Frontier &from) {
  for (const FreePoint &point : from) {
    auto same = std::find_if(into.begin(), into.end(), [&](const FreePoint &p) { return p.stream == point.stream; });
    if (same == into.end())
      into.push_back(point);
    else if (same->order < point.order)
      *same = point;
  }
}

void FreeRanges::insert(uint64_t begin, Piece piece) {
  bytes_ += piece.bytes;
  bySize_.emplace(piece.bytes, begin);
  byPlace_.emplace(begin, std::move(piece));
}

FreeRanges::Piece FreeRanges::remove(ByPlace::iterator at) {
  auto [first, last] = bySize_.equal_range(at->second.bytes);
  bySize_.erase(std::find_if(first, last, [&](const auto &entry) { return entry.second == at->first; }));
  bytes_ -= at->second.bytes;
  Piece piece = std::move(at->second);
  byPlace_.erase(at);
  return piece;
}

void FreeRanges::add(uint64_t slab, Range range) {
  Piece piece = {slab, range.bytes, std::move(range.frontier)};
  uint64_t begin = range.begin;
  auto next = byPlace_.lower_bound(begin);
  if (next != byPlace_.end() && next->first == begin + piece.bytes && next->second.slab == slab) {
    const Piece joined = remove(next);
    piece.bytes += joined.bytes;
    joinFrontier(piece.frontier, joined.frontier);
  }
  next = byPlace_.lower_bound(begin);
  if (next != byPlace_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second.bytes == begin && previous->second.slab == slab) {
      begin = previous->first;
      const Piece joined = remove(previous);
      piece.bytes += joined.bytes;
      joinFrontier(piece.frontier, joined.frontier);
    }
  }
  insert(begin, std::move(piece));
}

std::optional<FreeRanges::Range> FreeRanges::take(uint64_t bytes, uint64_t alignment) {
  for (auto candidate = bySize_.lower_bound(bytes); candidate != bySize_.end(); ++candidate) {
    const uint64_t begin = alignUp(candidate->second, alignment);
    const uint64_t skipped = begin - candidate->second;
    if (skipped > candidate->first - bytes)
      continue;
    auto at = byPlace_.find(candidate->second);
    const uint64_t pieceBegin = at->first;
    Piece piece = remove(at);
    if (skipped != 0)
      insert(pieceBegin, {piece.slab, skipped, piece.frontier});
    if (const uint64_t rest = piece.bytes - skipped - bytes; rest != 0)
      insert(begin + bytes, {piece.slab, rest, piece.frontier});
    return Range{begin, bytes, std::move(piece.frontier)};
  }
  return std::nullopt;
}

bool FreeRanges::removeSlab(uint64_t slab, uint64_t begin, uint64_t bytes) {
  auto at = byPlace_.find(begin);
  if (at == byPlace_.end() || at->second.slab != slab || at->second.bytes != bytes)
    return false;
  remove(at);
  return true;
}

} // namespace tenon::runtime
