// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses of places in a kernel's parameters that the text names: `mov` of the parameter, `cvta`, sums with
// constants. A tensor map stands at such a place, and a store through it goes where the map leads. Which map that is
// tells the place, as long as nothing but copies happens to the address (kExactPlace, origins.h).
#include "linker/access/plan/plan_builder.h"

#include <algorithm>

namespace tenon::linker {

static constexpr uint64_t kMapBytes = 128, kPointerBytes = 8;

static bool overlap(uint64_t a, uint64_t bytesOfA, uint64_t b, uint64_t bytesOfB) {
  return a < b + bytesOfB && b < a + bytesOfA;
}

/// What the address of a place tells: of one that was taken, which it is.
Origins PlanBuilder::addressOf(VariablePlace place) const {
  if (parametersAreKnown_ && plan_->isParameter(place.cell))
    return addressInParameters(place);
  Origins address = Origins::of(plan_->slotOfCell(place.cell));
  const auto taken = std::ranges::find(plan_->placeSlots, place);
  if (taken == plan_->placeSlots.end())
    return address;
  const uint64_t tells =
      kExact | slotBit(plan_->firstPlaceSlot + static_cast<uint32_t>(taken - plan_->placeSlots.begin()));
  address.none &= ~tells;
  address.plus |= tells;
  return address;
}

/// In the parameters it is exact where 128 bytes stand there that are one tensor map, or no pointer and no part of a
/// map.
Origins PlanBuilder::addressInParameters(VariablePlace place) const {
  Origins address = Origins::of(kParamMemory);
  if (!isWithin(place.offset, kMapBytes, 0, function_->parameters[place.cell].bytes()))
    return address;
  const auto offset = static_cast<uint64_t>(place.offset);
  uint64_t tells = kExact;
  for (uint32_t i = 0; i < slots_->size(); ++i) {
    const ParameterSlot &slot = (*slots_)[i];
    if (slot.parameter != place.cell || !(slot.isPointer || slot.isMap))
      continue;
    if (slot.isMap && slot.offset == offset && i < kTrackedSlots)
      tells |= slotBit(i);
    else if (overlap(offset, kMapBytes, slot.offset, slot.isMap ? kMapBytes : kPointerBytes))
      return address;
  }
  address.none &= ~tells;
  address.plus |= tells;
  return address;
}

/// The address of a place in a .local variable, which a function may get. As many as there are slots left.
void PlanBuilder::takePlace(VariablePlace place) {
  if (std::ranges::find(plan_->placeSlots, place) == plan_->placeSlots.end() &&
      plan_->firstPlaceSlot + plan_->placeSlots.size() < kTrackedSlots)
    plan_->placeSlots.push_back(place);
}

/// Whether a value is an address in the variable, whatever it tells of the place.
bool PlanBuilder::isAddressOf(OriginTable::Id value, uint32_t cell) const {
  Origins address = known_.table[value];
  if (!address.isKnown())
    return false;
  for (uint64_t Origins::*role : {&Origins::plus, &Origins::minus, &Origins::mixed, &Origins::few, &Origins::index,
                                  &Origins::near, &Origins::part})
    address.*role &= ~placeBits_;
  address.none |= placeBits_;
  return address == Origins::of(plan_->slotOfCell(cell));
}

/// Whether the instruction at hand leaves the address of a parameter what it is but for a constant. Conversions add the
/// base of a window to it, or take it off.
bool PlanBuilder::keepsExactly(uint32_t cell) const {
  if (form_->width.element != kPointerBytes)
    return false;
  switch (form_->effect.effect) {
  case Effect::Copy:
    return form_->transfer == Transfer{Combine::Join, Finish::Keep};
  case Effect::Sum:
    return form_->transfer == Transfer{Combine::Sum, Finish::Keep} && !form_->setsCarry;
  case Effect::ToAddress:
    return form_->effect.space == (plan_->isParameter(cell) ? ptx::StateSpace::Param : ptx::StateSpace::Local);
  default:
    return false;
  }
}

/// The result of the instruction at hand is the address of a place that tells which it is. False where it is none.
bool PlanBuilder::defineAsPlace(const std::optional<VariablePlace> &place) {
  const bool isLocal =
      place && takesPlaces_ && plan_->slotOfCell(place->cell) == kLocalMemory && keepsExactly(place->cell);
  if (!place || !(isLocal || plan_->isParameter(place->cell)))
    return false;
  if (isLocal)
    takePlace(*place);
  sourcesOf(1, static_cast<uint32_t>(instruction_->operands.size())); // where the parameter is named
  defineAs(known_.table.idOf(addressOf(*place)));
  return true;
}

} // namespace tenon::linker
