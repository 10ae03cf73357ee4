// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of a body that hold the address of a place in a .local or .shared variable: the variable's, plus a
// constant. nvcc gives all thread-private arrays of a kernel one variable, `__local_depot0`, and spilled pointers stand
// at constant places in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::linker {

struct VariablePlace {
  uint32_t cell = 0;
  int64_t offset = 0; // bytes
  VariablePlace plus(uint64_t bytes) const { return {cell, static_cast<int64_t>(uint64_t(offset) + bytes)}; }
};

class PlaceAddresses {
public:
  void clear() { known_.clear(); }
  /// Beyond a number of registers nothing more is kept: they are looked through one by one.
  void add(uint32_t reg, VariablePlace place) {
    if (known_.size() < kMost)
      known_.emplace_back(reg, place);
  }
  std::optional<VariablePlace> find(uint32_t reg) const {
    for (const auto &[known, place] : known_)
      if (known == reg)
        return place;
    return {};
  }

private:
  static constexpr size_t kMost = 64;
  std::vector<std::pair<uint32_t, VariablePlace>> known_;
};

} // namespace tenon::linker
