// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of a body that hold one half of a value: `mov.b64 {%r1, %r2}, %rd1`. Where both come together again,
// perhaps from another thread (a shuffle moves 32 bits at a time), they are that value, if both were taken from it at
// one time: in a loop, halves of two rounds may meet, and where a path takes nothing apart, there are none. So the way
// from the split to where they meet lies in one block, or begins in the first block, which comes before all others.
#pragma once

#include "linker/access/plan/known_values.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::linker {

struct Half {
  uint32_t reg = 0;     // one definition
  uint32_t split = 0;   // the instruction that took the value apart
  bool isUpper = false; // else the lower half
  uint32_t block = 0;   // of the split and the moves behind the first block; 0: there are none
  uint64_t moves = 0;   // shuffles on the way here, as a hash: where, and between which threads
  PlannedValue whole = PlannedValue::known(OriginTable::kNumber);

  bool belongsTo(const Half &other) const {
    return split == other.split && moves == other.moves && isUpper != other.isUpper;
  }
  /// Whether it was taken when control came to this block the last time, or before that.
  bool isFreshIn(uint32_t at) const { return block == 0 || block == at; }
};

class Halves {
public:
  void clear() { known_.clear(); }
  /// Beyond a number nothing more is kept: they are looked through one by one.
  void add(const Half &half) {
    if (known_.size() < kMost)
      known_.push_back(half);
  }
  bool empty() const { return known_.empty(); }
  std::optional<Half> find(uint32_t reg) const {
    for (const Half &half : known_)
      if (half.reg == reg)
        return half;
    return {};
  }

private:
  static constexpr size_t kMost = 64;
  std::vector<Half> known_;
};

} // namespace tenon::linker
