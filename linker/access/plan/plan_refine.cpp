// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands that tell more than their origins do: numbers that stand in the text, also where a register carries them,
// and pointers as they were passed.
#include "linker/access/plan/plan_builder.h"

#include <bit>

namespace tenon::linker {

static constexpr uint32_t kFarthest = 512; // instructions that are looked through for the definition of one register

/// The number that the text puts into a register in front of the instruction at hand, on every path: `mov.b64 %rd5,
/// -16;` in its block or in the first one, and nowhere else.
std::optional<uint64_t> PlanBuilder::numberIn(uint32_t reg) const {
  if (!known_.hasOneDefinition(reg))
    return {};
  auto lookIn = [&](uint32_t begin, uint32_t end) -> std::optional<uint64_t> {
    for (uint32_t i = end; i > begin && end - i < kFarthest; --i) {
      const ptx::Instruction &instruction = function_->instructions[i - 1];
      if (instruction.opcode != "mov" || !instruction.predicate.empty() || instruction.operands.size() != 2 ||
          instruction.operands[0].kind != ptx::Operand::Kind::Name ||
          instruction.operands[1].kind != ptx::Operand::Kind::Integer)
        continue;
      const std::span<const ptx::NameRef> names = uses_->namesOf(i - 1);
      if (!names.empty() && names[0].kind == ptx::NameRef::Kind::Register && names[0].index == reg)
        return instruction.operands[1].bits;
    }
    return {};
  };
  const std::vector<ptx::BasicBlock> &blocks = plan_->flow.blocks;
  const uint32_t block = plan_->flow.blockOf[current_];
  if (std::optional<uint64_t> found = lookIn(blocks[block].begin, current_))
    return found;
  return block != 0 ? lookIn(blocks[0].begin, blocks[0].end) : std::nullopt;
}

/// What the numbers among the operands of the instruction at hand tell (effect.h), where they may.
std::optional<Refined> PlanBuilder::refined() const {
  const Effect effect = form_->effect.effect;
  if (std::optional<Refined> refined = refinedBy(*instruction_, effect); refined || mayScale(effect))
    return refined;
  const ptx::List<ptx::Operand> &operands = instruction_->operands;
  if (operands.size() > kMostNumbers)
    return {};
  OperandNumbers numbers = {};
  bool isAny = false;
  const ptx::NameRef *name = names();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind == ptx::Operand::Kind::Integer)
      continue;
    if (operands[i].kind != ptx::Operand::Kind::Name)
      return {};
    if (const ptx::NameRef &ref = *name++; i != 0 && ref.kind == ptx::NameRef::Kind::Register)
      isAny |= (numbers[i] = numberIn(ref.index)).has_value();
  }
  return isAny ? refinedBy(*instruction_, effect, numbers) : std::nullopt;
}

/// A register was loaded with 8 bytes of a parameter, which hold this.
void PlanBuilder::noteWholePointer(uint32_t result, const Origins &value) {
  const uint64_t slots = value.plus & known_.table.secrets().pointers & kSinglePointers;
  if (std::has_single_bit(slots) && value == Origins::of(static_cast<uint32_t>(std::countr_zero(slots))))
    whole_.add(result, static_cast<uint32_t>(std::countr_zero(slots)));
}

/// `mov` and `cvta` of a pointer as it was passed: operand 1 is a register. An address within a window (of shared
/// memory) is another number.
void PlanBuilder::followWholePointer() {
  const ptx::NameRef &result = names()[0], &source = names()[1];
  if (!known_.hasOneDefinition(result.index) || !instruction_->predicate.empty() ||
      instruction_->operands[1].offset != 0 ||
      (form_->effect.effect == Effect::ToAddress && form_->effect.space != ptx::StateSpace::Global))
    return;
  if (std::optional<uint32_t> slot = whole_.find(source.index))
    whole_.add(result.index, *slot);
}

/// setp of two pointers as they were passed, or of one and 0; isspacep of one. One answer for a launch: there is no
/// number in it that a kernel could try one value of after another, as there is in `p + n == 0`.
bool PlanBuilder::comparesWholePointers() {
  const ptx::List<ptx::Operand> &operands = instruction_->operands;
  if (whole_.empty() || operands.size() != (form_->effect.effect == Effect::IsAddress ? 2 : 3))
    return false;
  const ptx::NameRef *name = names();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i != 0 && operands[i].kind == ptx::Operand::Kind::Integer && operands[i].bits == 0)
      continue;
    if (operands[i].kind != ptx::Operand::Kind::Name || name->kind != ptx::NameRef::Kind::Register)
      return false;
    const uint32_t reg = name++->index;
    if (i == 0)
      continue;
    const std::optional<uint32_t> slot = whole_.find(reg);
    // A register that some path reads before it is set holds a number as well.
    if (!slot || !(known_.table[known_.peek(reg)] == Origins::of(slotOf(*slot))))
      return false;
  }
  return true;
}

} // namespace tenon::linker
