// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large an index is at most, where the text says so: a thread's number in its block, a mask, a remainder, and sums
// and products of those that do not go around. An access at such an index stays within bytes of its variable that can
// be told, so a tile in shared memory does not touch the pointers beside it.
#include "linker/access/cell.h"
#include "linker/access/plan/plan_builder.h"

#include <algorithm>

namespace tenon::linker {
namespace {

constexpr uint64_t kLargest = INT32_MAX; // so that neither 32 bits nor a sign matter
constexpr uint32_t kDeepest = 10;        // definitions, one after the other
constexpr uint32_t kFarthest = 512;      // instructions that are looked through for one of them

bool hasType(const ptx::Instruction &instruction, std::initializer_list<std::string_view> types) {
  return !instruction.modifiers.empty() && std::ranges::find(types, instruction.modifiers.back()) != types.end() &&
         !instruction.hasModifier("sat") && !instruction.hasModifier("hi");
}

/// cvt.u64.u32 of an address in shared memory.
bool isWidening(const ptx::Instruction &instruction) {
  return instruction.modifiers.size() == 2 && instruction.modifiers[0] == "u64" && instruction.modifiers[1] == "u32";
}

std::optional<uint64_t> bounded(unsigned __int128 value) {
  return value <= kLargest ? std::optional(static_cast<uint64_t>(value)) : std::nullopt;
}

std::optional<uint64_t> least(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  return !a ? b : !b ? a : std::min(*a, *b);
}

} // namespace

/// The one definition of a register, if it comes before `use` on every path: in its block, or in the first one.
std::optional<uint32_t> PlanBuilder::definitionBefore(uint32_t reg, uint32_t use) {
  if (!known_.hasOneDefinition(reg))
    return {};
  auto lookIn = [&](uint32_t begin, uint32_t end) -> std::optional<uint32_t> {
    for (uint32_t i = end; i > begin && end - i < kFarthest && lookedAt_ < kMostLookedAt; --i, ++lookedAt_)
      for (const ptx::NameRef &name : uses_->namesOf(i - 1))
        if (name.isDefinition && name.kind == ptx::NameRef::Kind::Register && name.index == reg)
          return i - 1;
    return {};
  };
  const std::vector<ptx::BasicBlock> &blocks = plan_->flow.blocks;
  const uint32_t block = plan_->flow.blockOf[use];
  std::optional<uint32_t> found = lookIn(blocks[block].begin, use);
  if (!found && block != 0)
    found = lookIn(blocks[0].begin, blocks[0].end);
  return found && function_->instructions[*found].predicate.empty() ? found : std::nullopt;
}

/// %tid.x and the like. No device has larger blocks, and .maxntid bounds the product of the extents.
std::optional<uint64_t> PlanBuilder::boundOfSpecial(std::string_view name) const {
  if (name == "%laneid")
    return 31;
  if (!name.starts_with("%tid.") || name.size() != 6 || name[5] < 'x' || name[5] > 'z')
    return {};
  const auto axis = static_cast<size_t>(name[5] - 'x');
  uint64_t threads = axis == 2 ? 64 : 1024;
  if (function_->isEntry && function_->requiredThreads)
    threads = std::min<uint64_t>(threads, (*function_->requiredThreads)[axis]);
  if (function_->isEntry && function_->maxThreads) {
    const auto &most = *function_->maxThreads;
    threads = std::min<uint64_t>(threads, uint64_t(most[0]) * most[1] * most[2]);
  }
  return threads - (threads != 0);
}

/// Of an operand that is a number, or a name.
std::optional<uint64_t> PlanBuilder::boundOf(uint32_t index, size_t operand, uint32_t depth) {
  const ptx::Instruction &instruction = function_->instructions[index];
  if (operand >= instruction.operands.size())
    return {};
  const ptx::Operand &value = instruction.operands[operand];
  if (value.kind == ptx::Operand::Kind::Integer)
    return bounded(value.bits);
  if (value.kind != ptx::Operand::Kind::Name || value.offset != 0)
    return {};
  const auto names = registersOf(index);
  return operand < names.size() && names[operand] ? boundOfRegister(names[operand]->index, index, depth)
                                                  : boundOfSpecial(value.name);
}

std::optional<uint64_t> PlanBuilder::boundOfRegister(uint32_t reg, uint32_t use, uint32_t depth) {
  if (depth == kDeepest)
    return {};
  const std::optional<uint32_t> definition = definitionBefore(reg, use);
  if (!definition)
    return {};
  const ptx::Instruction &instruction = function_->instructions[*definition];
  const std::string_view opcode = instruction.opcode;
  const size_t operands = instruction.operands.size();
  auto of = [&](size_t operand) { return boundOf(*definition, operand, depth + 1); };
  auto number = [&](size_t operand) -> std::optional<uint64_t> {
    return operand < operands && instruction.operands[operand].kind == ptx::Operand::Kind::Integer
               ? std::optional(instruction.operands[operand].bits)
               : std::nullopt;
  };
  const bool isWhole = hasType(instruction, {"s32", "u32", "b32", "s64", "u64", "b64"});
  const bool isUnsigned = isWhole && instruction.modifiers.back().front() != 's';
  if (!isWhole || instruction.hasModifier("cc"))
    return {};
  if (opcode == "mov" && operands == 2)
    return of(1);
  if (opcode == "cvt" && operands == 2 && instruction.modifiers.size() == 2 &&
      ptx::byteSize(ptx::parseScalarType(instruction.modifiers[0])) >= 4 &&
      (instruction.modifiers[0].front() == 's' || instruction.modifiers[0].front() == 'u'))
    return of(1);
  if (opcode == "and" && operands == 3)
    return least(of(1), of(2));
  if (opcode == "min" && operands == 3 && isUnsigned)
    return least(of(1), of(2));
  if (opcode == "rem" && operands == 3 && isUnsigned && number(2) && *number(2) != 0)
    return bounded(*number(2) - 1);
  if (opcode == "bfe" && operands == 4 && isUnsigned && number(3) && *number(3) < 31)
    return (uint64_t(1) << *number(3)) - 1;
  if (opcode == "shr" && operands == 3 && number(2) && *number(2) < 64) {
    if (const std::optional<uint64_t> value = of(1))
      return *value >> *number(2);
    const uint64_t all = instruction.modifiers.back().ends_with("32") ? UINT32_MAX : UINT64_MAX;
    return isUnsigned ? bounded(all >> *number(2)) : std::nullopt;
  }
  const std::optional<uint64_t> a = of(1), b = of(2);
  if (!a || !b)
    return {};
  if (opcode == "add" && operands == 3)
    return bounded(*a + *b);
  if (opcode == "shl" && operands == 3 && number(2) && *b < 32)
    return bounded(*a << *b);
  if (opcode == "mul" && operands == 3)
    return bounded(static_cast<unsigned __int128>(*a) * *b);
  const std::optional<uint64_t> c = of(3);
  if (opcode == "mad" && operands == 4 && c)
    return bounded(static_cast<unsigned __int128>(*a) * *b + *c);
  return {};
}

/// The bytes of a variable that an address in a register means one of, if the text says so. The address tells nothing.
std::optional<PlanBuilder::PlaceRange> PlanBuilder::rangeOf(const Leaf &leaf, uint32_t use, uint32_t depth) {
  if (const std::optional<VariablePlace> place = placeOf(leaf))
    return PlaceRange{.place = *place};
  if (!leaf.isRegister() || depth == kDeepest)
    return {};
  const std::optional<uint32_t> definition = definitionBefore(leaf.ref.index, use);
  if (!definition)
    return {};
  const ptx::Instruction &instruction = function_->instructions[*definition];
  const std::string_view opcode = instruction.opcode;
  const auto names = registersOf(*definition);
  auto rangeAt = [&](size_t operand) -> std::optional<PlaceRange> {
    return names[operand] ? rangeOf({.ref = *names[operand]}, *definition, depth + 1) : std::nullopt;
  };
  auto moved = [](std::optional<PlaceRange> range, std::optional<uint64_t> by) {
    if (!range || !by)
      return std::optional<PlaceRange>();
    range->span += *by;
    return range;
  };
  const bool isWhole = hasType(instruction, {"s32", "u32", "b32", "s64", "u64", "b64"});
  std::optional<PlaceRange> range;
  if (isWhole && instruction.operands.size() == 2 && instruction.operands[1].offset == 0 &&
      (opcode == "mov" || opcode == "cvta" || (opcode == "cvt" && isWidening(instruction))))
    range = rangeAt(1);
  else if (isWhole && opcode == "add" && instruction.operands.size() == 3 && !instruction.hasModifier("cc")) {
    if (instruction.operands[2].kind == ptx::Operand::Kind::Integer) {
      range = rangeAt(1);
      if (range)
        range->place = range->place.plus(instruction.operands[2].bits);
    } else if (!(range = moved(rangeAt(1), boundOf(*definition, 2, 0)))) {
      range = moved(rangeAt(2), boundOf(*definition, 1, 0));
    }
  } else if (isWhole && opcode == "mad" && instruction.operands.size() == 4) {
    const std::optional<uint64_t> a = boundOf(*definition, 1, 0), b = boundOf(*definition, 2, 0);
    if (a && b)
      range = moved(rangeAt(3), bounded(static_cast<unsigned __int128>(*a) * *b));
  }
  const bool isRange = range && range->span <= kLargest && isAddressOf(known_.peek(leaf.ref.index), range->place.cell);
  return isRange ? range : std::nullopt;
}

/// ld and st somewhere in a variable, ld in a kernel's parameter. False where that is not known to be all.
bool PlanBuilder::addRangeAccess(bool loads, const Leaf &base, int64_t offset) {
  constexpr uint32_t kWord = 8; // a word that is stored somewhere may be what is found at any place for one
  const bool mayBeParameter = loads && parametersAreKnown_;
  if ((plan_->firstPlaceCell == plan_->cellCount && !mayBeParameter) || !base.isRegister() ||
      (!loads && form_->width.element == kWord))
    return false;
  const std::optional<PlaceRange> range = rangeOf(base, current_, 0);
  const bool isParameter = range && mayBeParameter && plan_->isParameter(range->place.cell);
  if (!range || !(isParameter || plan_->isPlaceCell(range->place.cell)))
    return false;
  const uint64_t bytes = range->span + form_->width.bytes();
  const auto from = static_cast<int64_t>(uint64_t(range->place.offset) + uint64_t(offset));
  if (from < 0 || uint64_t(from) + bytes > plan_->cellBytes[range->place.cell])
    return false;
  const uint32_t operand = loads ? 0 : 1;
  for (const Leaf &leaf : leaves_) {
    if (leaf.operand != operand)
      continue;
    if (isParameter) {
      noteLoaded(range->place.cell, from, static_cast<uint32_t>(bytes));
      const Origins value =
          loadSomewhere(arguments_[range->place.cell], from, bytes, form_->width.element, known_.table.secrets());
      defineAs(known_.table.idOf(value), std::span(&leaf, 1));
      continue;
    }
    sources_.clear();
    if (!loads)
      sources_.push_back(valueOf(leaf));
    Step step = begin(loads ? StepKind::LoadCell : StepKind::StoreCell);
    step.cell = range->place.cell;
    step.offset = from;
    step.bytes = static_cast<uint32_t>(bytes);
    step.element = form_->width.element;
    step.isSomewhere = true;
    noteFilled(step);
    finish(step, sources_, loads ? std::span(&leaf, 1) : std::span<const Leaf>());
  }
  return true;
}

} // namespace tenon::linker
