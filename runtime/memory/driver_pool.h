// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pool of the driver's (cuMemPoolCreate): each allocation is one of the driver's, stream-ordered, from memory that it
// keeps for this pool alone. What is freed stays the pool's, up to the release threshold, when the device is next
// synchronised.
#pragma once

#include "runtime/memory/pool.h"

namespace tenon::runtime {

struct DriverPoolOptions {
  std::string name = "driver";
  uint64_t limitBytes = 0;       // of what is allocated; 0: none
  uint64_t releaseThreshold = 0; // bytes that the driver keeps
};

class DriverPool final : public Pool {
public:
  /// Unimplemented: the driver or the device has no memory pools. Errors of the driver.
  static Result<std::shared_ptr<Pool>> create(std::shared_ptr<Device> device, const DriverPoolOptions &options);
  ~DriverPool() override;
  bool returnsOnStream() const override { return true; }
  Status returnOnStream(uint64_t address, CUstream stream) override;
  Status trim() override;

protected:
  Status checkRequest(uint64_t bytes, uint64_t alignment) const override;
  Result<std::optional<PoolMemory>> takeLocked(CUstream stream, uint64_t bytes, uint64_t alignment) override;
  void giveBackLocked(uint64_t address, uint64_t bytes, const Frontier &frontier) override;
  void fillStatistics(PoolStatistics &out) const override;

private:
  DriverPool(std::shared_ptr<Device> device, const DriverPoolOptions &options, CUmemoryPool pool);

  CUmemoryPool pool_;
  uint64_t reserved_ = 0;
};

} // namespace tenon::runtime
