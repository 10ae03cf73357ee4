// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Laying things out one after another: members of a struct, parameters of a kernel, variables of a memory space.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tenon {

/// Gives each thing the next multiple of its alignment. Sums that overflow stay at the largest number, so that whoever
/// compares end() with a limit refuses them.
class Placement {
public:
  /// The first thing begins at `start` or behind it.
  explicit Placement(uint64_t start = 0) : end_(start) {}

  /// The offset of the next thing. @param alignment any number; 0 counts as 1
  uint64_t place(uint64_t size, uint64_t alignment) {
    alignment = std::max<uint64_t>(1, alignment);
    alignment_ = std::max(alignment_, alignment);
    const uint64_t over = end_ % alignment;
    const uint64_t offset = sum(end_, over == 0 ? 0 : alignment - over);
    end_ = sum(offset, size);
    return offset;
  }

  /// Behind the last thing, without padding.
  uint64_t end() const { return end_; }
  /// The largest alignment so far; 1 if nothing was placed.
  uint64_t alignment() const { return alignment_; }

private:
  static uint64_t sum(uint64_t a, uint64_t b) {
    uint64_t out = 0;
    return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
  }

  uint64_t end_;
  uint64_t alignment_ = 1;
};

} // namespace tenon
