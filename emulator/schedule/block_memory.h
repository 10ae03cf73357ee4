// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the registers, the shared and the local memory of resident blocks lie on the host. Mapping memory, touching its
// pages for the first time and giving it back takes longer than many a block runs, and with several workers every one
// of these stops the others (one lock and one page table for the process). So each thread keeps what its blocks used,
// up to a limit, for the blocks of its next launch.
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

  /// At least `bytes`, aligned to a page; they hold anything, as what a block finds does. Null: the system gives none.
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
