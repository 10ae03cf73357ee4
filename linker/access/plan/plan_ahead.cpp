// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places behind a pointer as it was passed: P + n, where n is no negative number and far too small to lead around 2^64.
// How two of one pointer compare (`p + i < p + n`, the end of a loop over pointers) is how i and n do.
//
// n is such a number where it is a sum of 32-bit numbers without a sign, each times at most kLargestFactor, and, in a
// loop, of constants up to kLargestStep. Addresses of devices have 57 bits at most. So it takes 2^52 instructions to
// come to 2^63, weeks of one thread.
#include "linker/access/plan/plan_builder.h"

#include <algorithm>

namespace tenon::linker {
namespace {

constexpr uint64_t kLargestShift = 12, kLargestFactor = 1 << kLargestShift, kLargestStep = 1 << 10,
                   kLargestDistance = uint64_t(1) << 44;
constexpr size_t kDeepest = 16; // registers that one is made of, one after the other

bool isNumber(const ptx::Operand &operand, uint64_t largest) {
  return operand.kind == ptx::Operand::Kind::Integer && operand.bits <= largest;
}

bool isSum(const ptx::Instruction &instruction) {
  return instruction.opcode == "add" && instruction.operands.size() == 3 && !instruction.hasModifier("cc") &&
         (instruction.hasModifier("s64") || instruction.hasModifier("u64"));
}

/// A 32-bit number without a sign, in 64 bits.
bool isWidened(const ptx::Instruction &instruction) {
  return instruction.opcode == "cvt" && instruction.modifiers.size() == 2 && instruction.modifiers[0] == "u64" &&
         instruction.modifiers[1] == "u32";
}

/// A 64-bit number times a small one.
bool isMultiple(const ptx::Instruction &instruction) {
  if (instruction.operands.size() != 3)
    return false;
  if (instruction.opcode == "shl")
    return instruction.hasModifier("b64") && isNumber(instruction.operands[2], kLargestShift);
  return instruction.opcode == "mul" && instruction.hasModifier("lo") &&
         (instruction.hasModifier("s64") || instruction.hasModifier("u64")) &&
         isNumber(instruction.operands[2], kLargestFactor);
}

bool isCopy(const ptx::Instruction &instruction) {
  if (instruction.operands.size() != 2 || instruction.operands[1].offset != 0)
    return false;
  if (instruction.opcode == "cvta")
    return instruction.hasModifier("global");
  return instruction.opcode == "mov" &&
         (instruction.hasModifier("b64") || instruction.hasModifier("u64") || instruction.hasModifier("s64"));
}

} // namespace

/// The names of an instruction's operands, where each operand is a name or a number. 0: there is none.
std::array<const ptx::NameRef *, 4> PlanBuilder::registersOf(uint32_t index) const {
  const ptx::Instruction &instruction = function_->instructions[index];
  std::array<const ptx::NameRef *, 4> found = {};
  const ptx::NameRef *name = uses_->namesOf(index).data() + (instruction.predicate.empty() ? 0 : 1);
  if (instruction.operands.size() > found.size())
    return {};
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (instruction.operands[i].kind == ptx::Operand::Kind::Integer)
      continue;
    if (instruction.operands[i].kind != ptx::Operand::Kind::Name)
      return {};
    if (name->kind == ptx::NameRef::Kind::Register)
      found[i] = name;
    ++name;
  }
  return found;
}

/// A number from 0 to kLargestDistance, by its one definition, which comes before the instruction that uses it.
bool PlanBuilder::isDistance(uint32_t reg, uint32_t use) {
  const std::optional<uint32_t> definition = definitionBefore(reg, use);
  if (!definition)
    return false;
  const ptx::Instruction &instruction = function_->instructions[*definition];
  if (isWidened(instruction))
    return true;
  if (isMultiple(instruction)) {
    const ptx::NameRef *number = registersOf(*definition)[1];
    const std::optional<uint32_t> widened = number ? definitionBefore(number->index, *definition) : std::nullopt;
    return widened && isWidened(function_->instructions[*widened]);
  }
  return instruction.opcode == "mul" && instruction.hasModifier("wide") && instruction.hasModifier("u32") &&
         instruction.operands.size() == 3 && isNumber(instruction.operands[2], kLargestFactor);
}

/// The pointer behind which the register's place is, whichever of its definitions came last. `path` are the registers
/// that it is needed for; from `fixed` on, a loop adds constants only.
bool PlanBuilder::isAhead(uint32_t reg, std::optional<uint32_t> &slot, std::vector<uint32_t> &path, size_t fixed) {
  if (const std::optional<uint32_t> whole = whole_.find(reg)) {
    const bool isSame = !slot || *slot == *whole;
    slot = whole;
    return isSame;
  }
  if (const auto found = std::ranges::find(path, reg); found != path.end())
    return static_cast<size_t>(found - path.begin()) >= fixed;
  if (path.size() == kDeepest || uses_->definitions[reg] == 0)
    return false;
  path.push_back(reg);
  const bool isGood = allDefinitions(reg, [&](uint32_t index) {
    const ptx::Instruction &instruction = function_->instructions[index];
    const auto names = registersOf(index);
    const ptx::NameRef *a = names[1], *b = names[2];
    if (!names[0])
      return false;
    if (isCopy(instruction))
      return a && isAhead(a->index, slot, path, fixed);
    if (instruction.opcode == "mad")
      return instruction.hasModifier("wide") && instruction.hasModifier("u32") && a &&
             isNumber(instruction.operands[2], kLargestFactor) && names[3] &&
             isAhead(names[3]->index, slot, path, path.size());
    if (!isSum(instruction) || !a)
      return false;
    if (!b)
      return isNumber(instruction.operands[2], kLargestDistance) &&
             isAhead(a->index, slot, path, isNumber(instruction.operands[2], kLargestStep) ? fixed : path.size());
    if (isDistance(a->index, index))
      std::swap(a, b);
    return isDistance(b->index, index) && isAhead(a->index, slot, path, path.size());
  });
  path.pop_back();
  return isGood;
}

/// setp.lt and the like of two places behind one pointer: it cancels, as it does in setp.eq.
bool PlanBuilder::comparesPlacesAhead() {
  if (whole_.empty() || form_->transfer.combine != Combine::Blend || form_->isFloat || form_->width.element != 8 ||
      instruction_->operands.size() != 3)
    return false;
  const auto names = registersOf(current_);
  std::optional<uint32_t> slot;
  std::vector<uint32_t> path;
  return names[1] && names[2] && isAhead(names[1]->index, slot, path, 0) && isAhead(names[2]->index, slot, path, 0);
}

} // namespace tenon::linker
