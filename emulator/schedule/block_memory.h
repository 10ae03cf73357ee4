// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host memory for the registers, shared and local memory of resident blocks. Mapping memory, touching its pages for the
// first time and unmapping it takes longer than many blocks run, and stops the other workers, because a process has one
// lock and one page table. So each thread keeps the memory that its blocks used, up to a limit, for its next launch.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::emulator {

class BlockMemory {
public:
  static constexpr uint64_t kKeptBytes = 64ull << 20;

  BlockMemory() = default;
  ~BlockMemory();
  BlockMemory(const BlockMemory &) = delete;
  BlockMemory &operator=(const BlockMemory &) = delete;

  /// At least `bytes`, aligned to a page; its contents are arbitrary. Null: the system gives none.
  uint8_t *take(uint64_t bytes);
  /// `bytes` as it was taken; null is nothing.
  void give(uint8_t *memory, uint64_t bytes);
  /// Bytes at hand.
  uint64_t kept() const { return kept_; }

  /// The calling thread's.
  static BlockMemory &ofThread();

private:
  static constexpr unsigned kSizes = 64;
  std::vector<uint8_t *> free_[kSizes]; // by binary logarithm of the size
  uint64_t kept_ = 0;
};

} // namespace tenon::emulator
