// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/private_memory.h"

#include <utility>

namespace tenon::linker {

static constexpr uint32_t kWord = 8;

bool MemoryContents::store(uint32_t bytes, const Origins &value, const Secrets &secrets) {
  if (bytes == kWord)
    return joinInto(words_, value);
  const bool isFirst = !cuts_;
  cuts_ = true;
  return joinInto(pieces_, secrets.cut(value)) || isFirst;
}

Origins MemoryContents::load(uint32_t bytes, const Secrets &secrets) const {
  Origins value = pieces_;
  if (bytes == kWord)
    value.join(words_);
  if (bytes != kWord || cuts_)
    value.join(secrets.cut(words_));
  return value;
}

Origins MemoryContents::over(const Origins &value, const Secrets &secrets) const {
  Origins all = value;
  if (cuts_)
    all.join(secrets.cut(value));
  return all;
}

void PrivateMemory::reset(Secrets secrets) {
  secrets_ = secrets;
  contents_.fill(MemoryContents());
  scattered_.fill(MemoryContents());
  isScattered_ = {};
  parametersEscaped = false;
  contents_[kSharedMemory - kParamMemory] = MemoryContents(Origins::of(kForeign));
  tensor = MemoryContents(Origins::of(kForeign));
}

bool PrivateMemory::scatter(uint32_t slot, uint32_t bytes, const Origins &value) {
  const bool isNew = remember(slot, bytes, value), isFirst = !std::exchange(isScattered_[slot - kParamMemory], true);
  return scattered_[slot - kParamMemory].store(bytes, value, secrets_) || isNew || isFirst;
}

Origins PrivateMemory::behind(const Origins &address, ptx::StateSpace space, uint32_t bytes) const {
  if (!address.isKnown())
    return {};
  Origins value;
  switch (space) {
  case ptx::StateSpace::Local:
    value = at(kLocalMemory).load(bytes, secrets_);
    break;
  case ptx::StateSpace::Shared:
    value = at(kSharedMemory).load(bytes, secrets_);
    break;
  case ptx::StateSpace::Param:
    value = at(kParamMemory).load(bytes, secrets_);
    break;
  case ptx::StateSpace::Generic: {
    const uint64_t bits = address.aimed();
    const bool anywhere = bits & slotBit(kForeign); // an address from memory may be one of private memory
    for (uint32_t slot : kPrivateSlots)
      if ((anywhere && isLoadable(slot)) || (bits & slotBit(slot)))
        value.join(at(slot).load(bytes, secrets_));
    if (!(address.surely() & kPrivateBits))
      value.join(Origins::of(kForeign));
    break;
  }
  case ptx::StateSpace::Reg:
  case ptx::StateSpace::Sreg:
  case ptx::StateSpace::Const:
  case ptx::StateSpace::Global:
  case ptx::StateSpace::Tex:
    value = Origins::of(kForeign);
    break;
  }
  return secrets_.tells(address) ? select(value, secrets_.told(address)) : value;
}

} // namespace tenon::linker
