// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/block_memory.h"

#include <bit>
#include <sys/mman.h>

namespace tenon::emulator {
namespace {

constexpr uint64_t kPage = 4096;

/// Sizes are powers of two, so that kernels of different needs share; what nobody touches is not committed.
uint64_t sizeFor(uint64_t bytes) {
  return std::bit_ceil(bytes < kPage ? kPage : bytes);
}

} // namespace

BlockMemory::~BlockMemory() {
  for (unsigned log = 0; log < kSizes; ++log)
    for (uint8_t *memory : free_[log])
      munmap(memory, uint64_t(1) << log);
}

uint8_t *BlockMemory::take(uint64_t bytes) {
  if (bytes > uint64_t(1) << 46) // no address space has it
    return nullptr;
  uint64_t size = sizeFor(bytes);
  std::vector<uint8_t *> &free = free_[std::countr_zero(size)];
  if (free.empty()) {
    void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : static_cast<uint8_t *>(p);
  }
  uint8_t *memory = free.back();
  free.pop_back();
  kept_ -= size;
  return memory;
}

void BlockMemory::give(uint8_t *memory, uint64_t bytes) {
  if (!memory)
    return;
  uint64_t size = sizeFor(bytes);
  if (kept_ + size > kKeptBytes) {
    munmap(memory, size);
    return;
  }
  free_[std::countr_zero(size)].push_back(memory);
  kept_ += size;
}

BlockMemory &BlockMemory::ofThread() {
  static thread_local BlockMemory memory;
  return memory;
}

} // namespace tenon::emulator
