// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of a body that hold the address of a place in a .local or .shared variable: the variable's, plus a
// constant. nvcc gives all thread-private arrays of a kernel one variable, `__local_depot0`, and spilled pointers stand
// at constant places in it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::linker {

struct VariablePlace {
  uint32_t cell = 0;
  int64_t offset = 0; // bytes
  bool operator==(const VariablePlace &) const = default;
  VariablePlace plus(uint64_t bytes) const { return {cell, static_cast<int64_t>(uint64_t(offset) + bytes)}; }
};

class PlaceAddresses {
public:
  void clear() { ++body_; }
  void add(uint32_t reg, VariablePlace place) {
    if (known_.size() <= reg)
      known_.resize(reg + 1);
    known_[reg] = {place, body_};
  }
  std::optional<VariablePlace> find(uint32_t reg) const {
    return reg < known_.size() && known_[reg].body == body_ ? std::optional(known_[reg].place) : std::nullopt;
  }

private:
  struct Known {
    VariablePlace place;
    uint64_t body = 0; // that the register belongs to
  };
  uint64_t body_ = 1;
  std::vector<Known> known_; // by register
};

} // namespace tenon::linker
