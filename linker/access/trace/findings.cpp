// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/findings.h"

#include <bit>

namespace tenon::linker {

void Findings::reset(const ParameterSlots &slots) {
  clear();
  slots_ = &slots;
  trace_.slots.resize(slots.size());
  pointerBits_ = mapBits_ = 0;
  for (uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].isPointer)
      pointerBits_ |= slotBit(slotOf(i));
    else if (slots[i].isMap)
      mapBits_ |= slotBit(slotOf(i));
}

void Findings::clear() {
  std::vector<SlotAccess> slots = std::move(trace_.slots);
  slots.assign(slots.size(), SlotAccess());
  trace_ = {};
  trace_.slots = std::move(slots);
  soleBases_ = jointBases_ = choiceBases_ = leaked_ = 0;
  foreignWrite_ = foreignSteer_ = {};
}

template <typename Function> void Findings::forEachSlot(uint64_t bits, Function function) {
  const size_t count = trace_.slots.size();
  for (uint64_t left = bits & (slotBit(kFurtherSlots) - 1); left != 0; left &= left - 1) {
    const auto slot = static_cast<size_t>(std::countr_zero(left));
    if (slot >= count)
      return;
    function(trace_.slots[slot]);
  }
  if (bits & slotBit(kFurtherSlots))
    for (size_t i = kTrackedSlots; i < count; ++i)
      function(trace_.slots[i]);
}

void Findings::named(uint32_t parameter) {
  for (size_t i = 0; i < trace_.slots.size(); ++i)
    if ((*slots_)[i].parameter == parameter)
      trace_.slots[i].named = true;
}

void Findings::noted(uint32_t slot, const SlotNote &note) {
  SlotAccess &access = trace_.slots[slot];
  access.named |= note.named;
  access.loadedAsFloat |= note.loadedAsFloat;
  access.soleBase |= note.soleBase;
  access.jointBase |= note.jointBase;
}

void Findings::lowBitsTested(const Origins &value) {
  forEachSlot(value.plus | value.mixed, [](SlotAccess &access) { access.lowBitsTested = true; });
}

void Findings::addressed(const Origins &address, const Step &step, AccessPlace place) {
  forEachSlot(address.aimed() & pointerBits_, [](SlotAccess &access) { access.addressed = true; });
  const uint64_t bases = address.plus & kParameterBits;
  (std::has_single_bit(bases) && bases != slotBit(kFurtherSlots) ? soleBases_ : jointBases_) |= bases;
  if ((bases & ~address.none) == 0) // each may be absent: a choice, as a table gives it, and no sum
    choiceBases_ |= bases;
  const uint64_t pointers = pointerBits_ | ~kParameterBits;
  if ((address.aimed() & pointers) == 0)
    forEachSlot(address.plus, [&](SlotAccess &access) {
      access.addressed = true;
      if (!access.aloneInAddress)
        access.aloneInAddress = place;
    });
  if (step.bytes > 8)
    forEachSlot(address.plus & pointerBits_, [&](SlotAccess &access) {
      if (step.bytes > access.widestBytes) {
        access.widestBytes = step.bytes;
        access.widest = place;
      }
    });
}

void Findings::read(const Origins &address, const Step &step, AccessPlace place) {
  addressed(address, step, place);
  if (step.nonCoherent)
    forEachSlot(address.plus & pointerBits_, [&](SlotAccess &access) {
      if (!access.nonCoherent)
        access.nonCoherent = place;
    });
}

/// A small offset that a pointer tells (`index`, `near`) does not lead to its memory where the address surely is
/// another one's, or of memory that no binding leads to; where it may be several, or a part of one, it may complete it.
/// What else is told by less than an address (`few`) may choose between addresses: the pointer's, where a guess was
/// right, or a harmless one.
void Findings::written(const Origins &address, const Step &step, AccessPlace place) {
  addressed(address, step, place);
  const uint64_t aimed = address.aimed() & pointerBits_, few = address.few & pointerBits_,
                 little = address.little() & pointerBits_;
  // Surely one buffer: its pointer stands in the address on every path, or nothing else that is an address does.
  const uint64_t based = address.plus & pointerBits_;
  const bool single = std::has_single_bit(based) && based != slotBit(kFurtherSlots);
  const bool onlyBase = (aimed | little) == based && !(address.aimed() & ~kParameterBits) &&
                        !((address.minus | address.mixed | address.part) & based);
  const uint64_t sure = single && ((address.surely() & based) || onlyBase) ? based : 0;
  forEachSlot(sure, [&](SlotAccess &access) {
    if (!access.written)
      access.written = place;
  });
  const uint64_t maybe = aimed == sure ? few : (aimed | little) & ~sure;
  forEachSlot(maybe, [&](SlotAccess &access) {
    if (!access.maybeWritten)
      access.maybeWritten = place;
  });
  leaked(little);
  if ((address.involved() & slotBit(kForeign)) && !foreignWrite_)
    foreignWrite_ = place;
  if (!sure)
    trace_.writesElsewhere = true;
  if ((address.plus & slotBit(kModuleMemory)) && !trace_.writesModule)
    trace_.writesModule = place;
}

/// Which of several maps it is may be chosen by what tells little of a pointer; so may the map that leads to it.
void Findings::storedToKnownMap(AccessPlace place, const Origins &map) {
  const uint64_t maps = map.plus & mapBits_ & kSinglePointers;
  const bool isOne = std::has_single_bit(maps);
  forEachSlot(maps, [&](SlotAccess &access) {
    MaybePlace &written = isOne && (map.surely() & maps) ? access.written : access.maybeWritten;
    if (!written)
      written = place;
  });
  storedWhere(place, map);
}

void Findings::steered(const Origins &value, AccessPlace place) {
  forEachSlot(value.involved() & pointerBits_, [&](SlotAccess &access) {
    if (!access.steers)
      access.steers = place;
  });
  if ((value.involved() & slotBit(kForeign)) && !foreignSteer_)
    foreignSteer_ = place;
}

/// What was loaded may tell bits of a pointer that the kernel has put into memory, whenever that was.
void Findings::settleLeaks() {
  forEachSlot(leaked_, [&](SlotAccess &access) {
    if (foreignWrite_ && !access.maybeWritten)
      access.maybeWritten = foreignWrite_;
    if (foreignSteer_ && !access.steers)
      access.steers = foreignSteer_;
  });
}

void Findings::escaped(uint64_t bits, MaybePlace SlotAccess::*how, AccessPlace place) {
  forEachSlot(bits & pointerBits_, [&](SlotAccess &access) {
    access.addressed = true;
    if (!(access.*how))
      access.*how = place;
  });
}

KernelTrace Findings::take() {
  settleLeaks();
  forEachSlot(soleBases_, [](SlotAccess &access) { access.soleBase = true; });
  forEachSlot(jointBases_, [](SlotAccess &access) { access.jointBase = true; });
  forEachSlot(choiceBases_, [](SlotAccess &access) { access.choiceBase = true; });
  return std::move(trace_);
}

} // namespace tenon::linker
