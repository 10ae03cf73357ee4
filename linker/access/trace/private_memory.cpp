// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/private_memory.h"

namespace tenon::linker {

void PrivateMemory::reset() {
  contents_.fill(Origins::number());
  remember(kSharedMemory, Origins::of(kForeign));
  scattered_ = Origins::number();
}

bool PrivateMemory::scatter(uint32_t slot, const Origins &value) {
  const bool isNew = remember(slot, value);
  return (slot == kLocalMemory && joinInto(scattered_, value)) || isNew;
}

Origins PrivateMemory::behind(const Origins &address, ptx::StateSpace space) const {
  switch (space) {
  case ptx::StateSpace::Local:
    return at(kLocalMemory);
  case ptx::StateSpace::Shared:
    return at(kSharedMemory);
  case ptx::StateSpace::Param:
    return at(kParamMemory);
  case ptx::StateSpace::Generic:
    break;
  case ptx::StateSpace::Reg:
  case ptx::StateSpace::Sreg:
  case ptx::StateSpace::Const:
  case ptx::StateSpace::Global:
  case ptx::StateSpace::Tex:
    return Origins::of(kForeign);
  }
  Origins value;
  if (!address.isKnown())
    return value;
  const uint64_t bits = address.involved();
  const bool anywhere = bits & slotBit(kForeign); // an address from memory may be one of private memory
  for (uint32_t slot : kPrivateSlots)
    if (anywhere || (bits & slotBit(slot)))
      value.join(at(slot));
  if (!(address.surely() & kPrivateBits))
    value.join(Origins::of(kForeign));
  return value;
}

} // namespace tenon::linker
