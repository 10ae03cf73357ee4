// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pool of pieces of any size and alignment, cut from slabs (free_ranges.h). A request above the size of a slab has a
// slab of its own. Where the limit stands in the way of a new slab, slabs that nobody uses are returned first.
#pragma once

#include "runtime/memory/pool.h"
#include "support/align.h"

namespace tenon::runtime {

struct RangePoolOptions {
  std::string name = "ranges";
  uint64_t slabBytes = uint64_t(32) << 20; // made a multiple of 256
  uint64_t alignment = kBufferAlignment;   // of every piece at least: a power of two
  uint64_t limitBytes = 0;                 // of the slabs; 0: none
};

class RangePool final : public Pool {
public:
  /// InvalidArgument: no slab size, or an alignment that is none. Nothing is allocated yet.
  static Result<std::shared_ptr<Pool>> create(std::shared_ptr<Device> device, const RangePoolOptions &options);
  Status trim() override;

protected:
  Status checkRequest(uint64_t bytes, uint64_t alignment) const override;
  Result<std::optional<PoolMemory>> takeLocked(CUstream stream, uint64_t bytes, uint64_t alignment) override;
  void giveBackLocked(uint64_t address, uint64_t bytes, const Frontier &frontier) override;
  void fillStatistics(PoolStatistics &out) const override;

private:
  RangePool(std::shared_ptr<Device> device, const RangePoolOptions &options);
  uint64_t roundUp(uint64_t bytes) const { return alignUp(bytes, alignment_); }
  Status trimLocked();

  uint64_t slabBytes_, alignment_;
  Slabs slabs_;
  FreeRanges free_;
};

} // namespace tenon::runtime
