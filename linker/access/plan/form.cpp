// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/form.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tenon::linker {
namespace {

Width widthOf(const ptx::Instruction &instruction) {
  Width width;
  for (std::string_view modifier : instruction.modifiers) {
    if (modifier.size() == 2 && modifier[0] == 'v' && modifier[1] >= '2' && modifier[1] <= '8')
      width.count = static_cast<uint32_t>(modifier[1] - '0');
    else if (ptx::ScalarType type = ptx::parseScalarType(modifier); type != ptx::ScalarType::None)
      width.element = ptx::byteSize(type);
  }
  return width;
}

bool isFloat(std::string_view modifier) {
  return modifier == "f32" || modifier == "f64" || modifier == "f16" || modifier == "bf16" || modifier == "f16x2" ||
         modifier == "bf16x2" || modifier == "f32x2";
}

bool beginsWithAddress(const ptx::Instruction &instruction) {
  return !instruction.operands.empty() && instruction.operands.front().kind == ptx::Operand::Kind::Address;
}

Form formOf(const ptx::Instruction &instruction) {
  const EffectOf effect = effectOf(instruction);
  return {.effect = effect,
          .transfer = transferOf(instruction, effect),
          .width = widthOf(instruction),
          .setsCarry = instruction.hasModifier("cc"),
          .nonCoherent = instruction.hasModifier("nc"),
          .isFloat = std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(), isFloat),
          .convertsAddress = effect.effect == Effect::ToAddress,
          .dependsOnOperands = dependsOnOperands(instruction.opcode),
          .hasAddress = hasAddress(instruction),
          .beginsWithAddress = beginsWithAddress(instruction)};
}

/// "ld.global.f32" as it stands in the text, with whatever stands in between: the same text has the same modifiers.
/// Empty where it is too long for a spelling.
std::string_view spellingOf(const ptx::Instruction &instruction) {
  constexpr size_t kLongest = 64;
  const std::string_view last = instruction.modifiers.empty() ? instruction.opcode : instruction.modifiers.back();
  const auto size = static_cast<size_t>(last.data() + last.size() - instruction.opcode.data());
  return size <= kLongest ? std::string_view(instruction.opcode.data(), size) : std::string_view();
}

template <typename Word> uint64_t wordAt(const char *text) {
  Word word;
  std::memcpy(&word, text, sizeof word);
  return word;
}

/// The first eight bytes and the last ones, which overlap where there are fewer than sixteen.
std::pair<uint64_t, uint64_t> endsOf(std::string_view text) {
  const char *begin = text.data(), *end = begin + text.size();
  if (text.size() >= 8)
    return {wordAt<uint64_t>(begin), wordAt<uint64_t>(end - 8)};
  if (text.size() >= 4)
    return {wordAt<uint32_t>(begin), wordAt<uint32_t>(end - 4)};
  if (text.size() >= 2)
    return {wordAt<uint16_t>(begin), wordAt<uint16_t>(end - 2)};
  return {text.empty() ? 0 : static_cast<unsigned char>(*begin), 0};
}

} // namespace

FormTable::Place &FormTable::placeOf(std::string_view spelling) {
  const auto [first, last] = endsOf(spelling);
  const size_t mask = places_.size() - 1;
  uint64_t hash = (first ^ (last * 0x9e3779b97f4a7c15) ^ spelling.size()) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 32;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Place &place = places_[i];
    if (place.size == 0) {
      place.first = first;
      place.last = last;
      return place;
    }
    if (place.first == first && place.last == last && place.size == spelling.size() &&
        (spelling.size() <= 16 || spellings_[place.form] == spelling))
      return place;
  }
}

void FormTable::grow() {
  places_.assign(places_.size() * 2, Place());
  for (uint32_t form = 0; form < forms_.size(); ++form) {
    Place &place = placeOf(spellings_[form]);
    place.size = static_cast<uint32_t>(spellings_[form].size());
    place.form = form;
  }
}

const Form &FormTable::lookUp(const ptx::Instruction &instruction) {
  const uint32_t number = instruction.spelling;
  const Form &known = number < byNumber_.size() && byNumber_[number] ? *byNumber_[number] : formFor(instruction);
  if (!known.dependsOnOperands ||
      (known.hasAddress == hasAddress(instruction) && known.beginsWithAddress == beginsWithAddress(instruction)))
    return known;
  single_ = formOf(instruction);
  return single_;
}

/// By the text, which every parse of it shares.
const Form &FormTable::formFor(const ptx::Instruction &instruction) {
  const std::string_view spelling = spellingOf(instruction);
  if (spelling.empty()) {
    single_ = formOf(instruction);
    return single_;
  }
  Place &place = placeOf(spelling);
  const uint32_t form = place.size != 0 ? place.form : static_cast<uint32_t>(forms_.size());
  if (place.size == 0) {
    place.size = static_cast<uint32_t>(spelling.size());
    place.form = form;
    spellings_.emplace_back(spelling);
    forms_.push_back(formOf(instruction));
    if (2 * forms_.size() > places_.size())
      grow();
  }
  constexpr uint32_t kMostNumbers = 1 << 16; // a program has hundreds
  if (instruction.spelling < kMostNumbers) {
    if (byNumber_.size() <= instruction.spelling)
      byNumber_.resize(instruction.spelling + 1, nullptr);
    byNumber_[instruction.spelling] = &forms_[form];
  }
  return forms_[form];
}

} // namespace tenon::linker
