// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/origin_table.h"

namespace tenon::linker {

void OriginTable::clear() {
  all_.assign(1, Origins());
  places_.assign(256, kUnknown);
  answers_.fill(Answer());
  idOf(Origins::number());
}

size_t OriginTable::placeOf(const Origins &value) const {
  uint64_t hash = 0;
  for (uint64_t word : {value.zero, value.plus, value.minus, value.other}) {
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
  }
  return id;
}

OriginTable::Id OriginTable::compute(Operation operation, Id a, Id b) {
  const Origins left = all_[a], right = all_[b];
  Origins result;
  switch (operation) {
  case Operation::None:
    break;
  case Operation::Join:
    result = Origins(left).join(right);
    break;
  case Operation::Sum:
    result = linker::sum(left, right);
    break;
  case Operation::Difference:
    result = linker::sum(left, right.negated());
    break;
  case Operation::Scale:
    result = left.scaled();
    break;
  }
  const Id id = idOf(result);
  answers_[slotOf(operation, a, b)] = {.a = a, .b = b, .result = id, .operation = operation};
  return id;
}

} // namespace tenon::linker
