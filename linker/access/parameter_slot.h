// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the caller of a trace wants to know of: a kernel's parameters, and pointers that stand inside of them. Mostly
// there is one slot per parameter. A struct passed by value that holds pointers has several: one for itself, which is
// no pointer and stands for the bytes that are none, and one for each pointer at its byte offset. A tensor map has one
// besides, which stands for its address: what is stored through it is told under that one.
#pragma once

#include "linker/access/origins.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::linker {

struct ParameterSlot {
  uint32_t parameter = 0; // of the kernel
  uint64_t offset = 0;    // bytes, in the parameter
  bool isPointer = false; // 8 bytes; else all that no pointer of this parameter takes
  bool isMap = false;     // the address of the tensor map at the offset, not what stands there
  bool operator==(const ParameterSlot &) const = default;
};
using ParameterSlots = std::vector<ParameterSlot>;

/// One slot for each parameter: whether it is a pointer.
inline ParameterSlots slotPerParameter(const std::vector<bool> &pointers) {
  ParameterSlots slots;
  slots.reserve(pointers.size());
  for (uint32_t i = 0; i < pointers.size(); ++i)
    slots.push_back({.parameter = i, .isPointer = pointers[i]});
  return slots;
}

inline Secrets secretsOf(const ParameterSlots &slots) {
  Secrets secrets;
  for (uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].isPointer)
      secrets.pointers |= slotBit(slotOf(i));
  return secrets;
}

} // namespace tenon::linker
