// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Free pieces of memory by size and by place: the smallest that is large enough is taken (best fit), and what comes
// back grows together with its free neighbours. Both in the logarithm of the number of pieces.
//
// A free piece may still be in use: its last user's work is on its way on some stream. So each carries its frontier,
// one event per stream, which whoever takes it makes its own stream wait for. Pieces that grow together join theirs.
#pragma once

#include "runtime/device/gpu_event.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace tenon::runtime {

/// A place in a stream behind the last use of memory. Of two on one stream the later one (`order`) implies the other.
struct FreePoint {
  CUstream stream = nullptr;
  std::shared_ptr<GpuEvent> event;
  uint64_t order = 0;
};
/// The order of a point that begins now.
uint64_t nextFreePoint();
/// At most one per stream.
using Frontier = std::vector<FreePoint>;
void joinFrontier(Frontier &into, const Frontier &from);

class FreeRanges {
public:
  struct Range {
    uint64_t begin = 0, bytes = 0; // addresses and bytes
    Frontier frontier;
  };
  /// Bytes of slab `slab`; pieces of different slabs never grow together.
  void add(uint64_t slab, Range range);
  /// Nothing: no piece holds `bytes` at a multiple of `alignment` (a power of two). What is left of a piece stays free.
  std::optional<Range> take(uint64_t bytes, uint64_t alignment);
  /// Takes all of a slab out, where all of it is free.
  bool removeSlab(uint64_t slab, uint64_t begin, uint64_t bytes);

  uint64_t bytes() const { return bytes_; }
  uint64_t largest() const { return bySize_.empty() ? 0 : bySize_.rbegin()->first; }
  size_t count() const { return byPlace_.size(); }

private:
  struct Piece {
    uint64_t slab = 0, bytes = 0;
    Frontier frontier;
  };
  using ByPlace = std::map<uint64_t, Piece>; // by first address
  void insert(uint64_t begin, Piece piece);
  Piece remove(ByPlace::iterator at);

  ByPlace byPlace_;
  std::multimap<uint64_t, uint64_t> bySize_; // bytes -> first address
  uint64_t bytes_ = 0;
};

} // namespace tenon::runtime
