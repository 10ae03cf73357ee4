// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that no other kernel sees, in an abstract run: parameters' addresses, thread-private and shared memory. What
// was stored there may be what is loaded; places of .local variables that are told apart are cells of an instance
// (cell.h), and what is stored in one stands here as well, for loads that may mean any place.
#pragma once

#include "linker/access/cell.h"
#include "ptx/module.h"

#include <array>

namespace tenon::linker {

/// kParamMemory, kLocalMemory, kSharedMemory.
inline constexpr std::array<uint32_t, 3> kPrivateSlots = {kParamMemory, kLocalMemory, kSharedMemory};

class PrivateMemory {
public:
  /// As a kernel finds it: shared memory holds what other threads put there.
  void reset();
  /// Everything that may stand in the memory of a slot.
  const Origins &at(uint32_t slot) const { return contents_[slot - kParamMemory]; }
  /// What may stand in any place of local memory, since it was stored nobody knows where.
  const Origins &scattered() const { return scattered_; }
  /// `value` may stand in this memory from now on. Whether it is new there, as in the next one.
  bool remember(uint32_t slot, const Origins &value) { return joinInto(contents_[slot - kParamMemory], value); }
  /// At a place that nobody knows.
  bool scatter(uint32_t slot, const Origins &value);
  /// What a load from `address` may find; of memory that everybody sees, something foreign.
  Origins behind(const Origins &address, ptx::StateSpace space) const;

private:
  std::array<Origins, 3> contents_;
  Origins scattered_;
};

} // namespace tenon::linker
