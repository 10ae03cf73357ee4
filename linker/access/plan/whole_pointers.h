// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of a kernel that hold a pointer as it was passed: loaded from its parameter, copied, converted to another
// space. How two of them compare (`in == out`, `in < out`), whether one is null or of shared memory is one answer for a
// launch, which no number has a say in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::linker {

class WholePointers {
public:
  void clear() { known_.clear(); }
  /// Beyond a number of registers nothing more is kept: they are looked through one by one.
  void add(uint32_t reg, uint32_t slot) {
    if (known_.size() < kMost)
      known_.emplace_back(reg, slot);
  }
  bool empty() const { return known_.empty(); }
  /// The slot of the pointer.
  std::optional<uint32_t> find(uint32_t reg) const {
    for (const auto &[known, slot] : known_)
      if (known == reg)
        return slot;
    return {};
  }

private:
  static constexpr size_t kMost = 64;
  std::vector<std::pair<uint32_t, uint32_t>> known_; // register, slot
};

} // namespace tenon::linker
