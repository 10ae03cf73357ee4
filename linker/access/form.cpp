#include "linker/access/form.h"

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

Form formOf(const ptx::Instruction &instruction) {
  return {.effect = effectOf(instruction), .width = widthOf(instruction), .nonCoherent = instruction.hasModifier("nc")};
}

/// "ld.global.f32" as it stands in the text; empty where something stands in between, or behind the operands.
std::string_view spellingOf(const ptx::Instruction &instruction) {
  const char *end = instruction.opcode.data() + instruction.opcode.size();
  for (std::string_view modifier : instruction.modifiers) {
    if (modifier.data() != end + 1)
      return {};
    end = modifier.data() + modifier.size();
  }
  return {instruction.opcode.data(), size_t(end - instruction.opcode.data())};
}

} // namespace

const Form &FormTable::of(const ptx::Instruction &instruction) {
  const std::string_view spelling = spellingOf(instruction);
  if (spelling.empty()) {
    single_ = formOf(instruction);
    return single_;
  }
  if (const uint32_t number = numbers_.find(spelling); number != ptx::NameMap::kNone) {
    if (!forms_[number].dependsOnOperands)
      return forms_[number];
    single_ = forms_[number];
    single_.effect = effectOf(instruction);
    return single_;
  }
  numbers_[spellings_.emplace_back(spelling)] = static_cast<uint32_t>(forms_.size());
  return forms_.emplace_back(formOf(instruction));
}

} // namespace tenon::linker
