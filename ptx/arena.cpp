// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/arena.h"

#include <new>
#include <sys/mman.h>

namespace tenon::ptx {
namespace {

constexpr size_t kFirstBlock = 1 << 14, kLargestBlock = 8 << 20, kHugePage = 2 << 20;

/// A body of a few megabytes would spend more time on page faults than on its words: its blocks ask for large pages.
std::byte *allocateBytes(size_t size) {
  const bool isLarge = size >= kHugePage;
  void *memory = isLarge ? std::aligned_alloc(kHugePage, size) : std::malloc(size);
  if (!memory)
    std::abort(); // as operator new does here, where there are no exceptions
  if (isLarge)
    (void)madvise(memory, size, MADV_HUGEPAGE); // advice only
  return static_cast<std::byte *>(memory);
}

} // namespace

std::byte *Arena::allocateBlock(size_t bytes) {
  while (!blocks_.empty() && current_ + 1 < blocks_.size()) { // of a body before this one
    enter(current_ + 1);
    if (bytes <= size_t(end_ - next_))
      return allocate(bytes);
  }
  const size_t grown = blocks_.empty() ? kFirstBlock : std::min(blocks_.back().size * 2, kLargestBlock);
  size_t size = std::max(bytes, grown);
  if (size >= kHugePage)
    size = (size + kHugePage - 1) & ~(kHugePage - 1);
  blocks_.push_back({std::unique_ptr<std::byte[], Free>(allocateBytes(size)), size});
  enter(blocks_.size() - 1);
  return allocate(bytes);
}

} // namespace tenon::ptx
