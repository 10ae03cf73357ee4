// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/origin_table.h"

namespace tenon::linker {

void OriginTable::clear() {
  all_.assign(1, Origins());
  places_.assign(256, kUnknown);
  answers_.fill(Answer());
  hasIndices_ = hasPlaces_ = false;
  idOf(Origins::number());
}

void OriginTable::setSecrets(Secrets secrets) {
  if (secrets.pointers == algebra_.secrets.pointers)
    return;
  algebra_.secrets = secrets;
  answers_.fill(Answer()); // some of them depend on it
}

size_t OriginTable::placeOf(const Origins &value) const {
  uint64_t hash = 0;
  for (uint64_t word :
       {value.none, value.plus, value.minus, value.mixed, value.few, value.index, value.near, value.part}) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  const size_t mask = places_.size() - 1;
  size_t place = hash & mask;
  while (places_[place] != kUnknown && !(all_[places_[place]] == value))
    place = (place + 1) & mask;
  return place;
}

void OriginTable::grow() {
  std::vector<Id> before(places_.size() * 2, kUnknown);
  before.swap(places_);
  for (Id id : before)
    if (id != kUnknown)
      places_[placeOf(all_[id])] = id;
}

OriginTable::Id OriginTable::idOf(const Origins &value) {
  if (!value.isKnown())
    return kUnknown;
  if (2 * (all_.size() + 1) > places_.size())
    grow();
  Id &id = places_[placeOf(value)];
  if (id == kUnknown) {
    id = static_cast<Id>(all_.size());
    all_.push_back(value);
    hasIndices_ |= value.index != 0;
    hasPlaces_ |= ((value.plus | value.minus) & kExact) != 0;
  }
  return id;
}

Origins OriginTable::computed(Operation operation, const Origins &a, const Origins &b) const {
  switch (operation) {
  case Operation::None:
    break;
  case Operation::Join:
    return algebra_.join(a, b);
  case Operation::Sum:
    return algebra_.sum(a, b);
  case Operation::Mix:
    return algebra_.mix(a, b);
  case Operation::Blend:
    return algebra_.blend(a, b);
  case Operation::Pack:
    return algebra_.pack(a, b);
  case Operation::Select:
    return algebra_.select(a, b);
  case Operation::Within:
    return algebra_.within(a, b);
  case Operation::Negate:
    return algebra_.negated(a);
  case Operation::Scale:
    return algebra_.scaled(a);
  case Operation::Adjust:
    return algebra_.adjusted(a);
  case Operation::Narrow:
    return algebra_.narrowed(a);
  case Operation::Index:
    return algebra_.indexed(a);
  case Operation::Truncate:
    return algebra_.truncated(a);
  case Operation::LowByte:
    return algebra_.lowByte(a);
  case Operation::LowIndex:
    return algebra_.lowIndex(a);
  case Operation::Gather:
    return algebra_.gathered(a);
  }
  return {};
}

OriginTable::Id OriginTable::compute(Operation operation, Id a, Id b) {
  const Id id = idOf(computed(operation, all_[a], all_[b]));
  answers_[slotOf(operation, a, b)] = {.a = a, .b = b, .result = id, .operation = operation};
  return id;
}

} // namespace tenon::linker
