// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/effect.h"

#include "linker/access/origins.h"

#include <algorithm>
#include <bit>

namespace tenon::linker {
namespace {

using ptx::EffectRule;

std::optional<ptx::StateSpace> spaceOf(std::string_view modifier) {
  if (modifier == "global")
    return ptx::StateSpace::Global;
  if (modifier.starts_with("shared")) // shared::cta, shared::cluster
    return ptx::StateSpace::Shared;
  if (modifier.starts_with("param")) // param::entry, param::func
    return ptx::StateSpace::Param;
  if (modifier == "local")
    return ptx::StateSpace::Local;
  if (modifier == "const")
    return ptx::StateSpace::Const;
  return {};
}

/// The first space among the modifiers: that of the destination, where there are two.
ptx::StateSpace firstSpace(const ptx::Instruction &instruction) {
  for (std::string_view modifier : instruction.modifiers)
    if (std::optional<ptx::StateSpace> space = spaceOf(modifier))
      return *space;
  return ptx::StateSpace::Generic;
}

/// cp.async, cp.async.bulk, cp.async.bulk.tensor and their reducing forms.
Effect asyncCopy(const ptx::Instruction &instruction, ptx::StateSpace space) {
  if (instruction.operands.empty() || instruction.operands.front().kind != ptx::Operand::Kind::Address ||
      instruction.hasModifier("prefetch") || instruction.hasModifier("mbarrier"))
    return Effect::None; // commit_group, wait_group, mbarrier.arrive
  if (space == ptx::StateSpace::Shared)
    return Effect::CopyToShared;
  if (instruction.hasModifier("tensor"))
    return Effect::StoreToMap;
  return Effect::CopyToGlobal;
}

Effect refine(const ptx::OpcodeRow &row, const ptx::Instruction &instruction, ptx::StateSpace space) {
  switch (row.rule) {
  case EffectRule::Fixed:
    return row.effect;
  case EffectRule::AsyncCopy:
    return asyncCopy(instruction, space);
  case EffectRule::Multimem:
    if (instruction.hasModifier("ld_reduce"))
      return Effect::Load;
    return instruction.hasModifier("cp") ? Effect::CopyToGlobal : Effect::Store;
  case EffectRule::Wmma:
    return instruction.hasModifier("load")    ? Effect::Load
           : instruction.hasModifier("store") ? Effect::Store
                                              : Effect::Gather;
  case EffectRule::Barrier:
    return instruction.hasModifier("red") ? Effect::Gather : Effect::None;
  case EffectRule::TensorMemory:
    if (instruction.hasModifier("ld"))
      return Effect::TensorLoad;
    return instruction.hasModifier("st") || instruction.hasModifier("cp") || instruction.hasModifier("mma") ||
                   instruction.hasModifier("shift")
               ? Effect::TensorStore
               : Effect::None;
  case EffectRule::TensorMap:
    return instruction.hasModifier("cp_fenceproxy") ? Effect::CopyToGlobal : Effect::Store;
  case EffectRule::Vote:
    return instruction.hasModifier("ballot") ? Effect::Gather : Effect::Narrow;
  }
}

/// What the modifiers say of the operands' types.
struct Types {
  uint32_t count = 0;
  uint32_t firstBytes = 0, lastBytes = 0; // 0: no type is written
  bool isFloat = false, isPacked = false, isPredicate = false, isSigned = false;
};

Types typesOf(const ptx::Instruction &instruction) {
  using ptx::ScalarType;
  Types types;
  for (std::string_view modifier : instruction.modifiers) {
    const ScalarType type = ptx::parseScalarType(modifier);
    if (type == ScalarType::None)
      continue;
    types.lastBytes = ptx::byteSize(type);
    if (types.count++ == 0)
      types.firstBytes = types.lastBytes;
    types.isPredicate |= type == ScalarType::Pred;
    types.isPacked |= type == ScalarType::U16x2 || type == ScalarType::S16x2;
    types.isSigned |= modifier.front() == 's';
    types.isFloat |= modifier.front() != 's' && modifier.front() != 'u' && modifier.front() != 'b';
    types.isFloat |= modifier.starts_with("bf");
  }
  types.isFloat &= !types.isPredicate;
  return types;
}

/// Of a result of so many bytes.
Finish finishOf(uint32_t bytes) {
  constexpr uint32_t kWhole = 8;
  return bytes == 1 ? Finish::LowByte : bytes != 0 && bytes < kWhole ? Finish::Truncate : Finish::Keep;
}

constexpr Transfer kBlend = {Combine::Blend, Finish::Keep};

/// Sums and products of integers are taken modulo a power of two; all else may depend on every bit.
Transfer integers(const ptx::Instruction &instruction, const Types &types, Combine combine) {
  if (types.isFloat || instruction.hasModifier("sat") || instruction.hasModifier("hi"))
    return kBlend;
  if (types.isPacked)
    return {Combine::Mix, Finish::Keep};
  return {combine, instruction.hasModifier("wide") ? Finish::Keep : finishOf(types.lastBytes)};
}

Transfer conversion(const ptx::Instruction &instruction, const Types &types) {
  const bool isExact = types.count == 2 && !types.isFloat && !types.isPacked && !instruction.hasModifier("sat") &&
                       !instruction.hasModifier("pack");
  if (!isExact)
    return kBlend;
  const Finish finish = finishOf(std::min(types.firstBytes, types.lastBytes));
  return {Combine::Join, finish == Finish::LowByte && !types.isSigned ? Finish::LowIndex : finish};
}

} // namespace

bool hasAddress(const ptx::Instruction &instruction) {
  return std::ranges::any_of(instruction.operands,
                             [](const ptx::Operand &operand) { return operand.kind == ptx::Operand::Kind::Address; });
}

bool dependsOnOperands(std::string_view opcode) {
  const ptx::OpcodeRow *row = ptx::findOpcode(opcode);
  return !row || row->rule == EffectRule::AsyncCopy;
}

EffectOf effectOf(const ptx::Instruction &instruction) {
  const ptx::OpcodeRow *row = ptx::findOpcode(instruction.opcode);
  const ptx::StateSpace space = firstSpace(instruction);
  if (!row) // nobody knows whether it looks at one thread only
    return {hasAddress(instruction) ? Effect::Unknown : Effect::Gather, space};
  return {refine(*row, instruction, space), space};
}

Transfer transferOf(const ptx::Instruction &instruction, const EffectOf &effect) {
  const Types types = typesOf(instruction);
  const Finish finish = finishOf(types.firstBytes);
  switch (effect.effect) {
  case Effect::Copy:
    return {Combine::Join, finish};
  case Effect::Convert:
    return conversion(instruction, types);
  case Effect::ToAddress: {
    const bool isWindow = effect.space == ptx::StateSpace::Shared || effect.space == ptx::StateSpace::Local ||
                          effect.space == ptx::StateSpace::Param;
    return {isWindow && !instruction.hasModifier("to") ? Combine::Within : Combine::Join, Finish::Keep};
  }
  case Effect::Shuffle:
    return {Combine::Shuffle, finish};
  case Effect::Select:
    return {Combine::Select, finish};
  case Effect::Extreme:
    return types.isPacked || instruction.hasModifier("relu") ? kBlend : Transfer{Combine::Extreme, finish};
  case Effect::Sum:
    return integers(instruction, types, Combine::Sum);
  case Effect::Difference:
    return integers(instruction, types, Combine::Difference);
  case Effect::Negate:
    return types.isFloat ? kBlend : Transfer{Combine::Difference, finish};
  case Effect::MultiplyAdd:
    return integers(instruction, types, Combine::MultiplyAdd);
  case Effect::Product:
    return integers(instruction, types, Combine::Mix);
  case Effect::Mask:
  case Effect::Bitwise:
    return {Combine::Mix, types.isPredicate ? Finish::Narrow : Finish::Keep};
  case Effect::ShiftLeft:
    return {Combine::Shift, Finish::Keep};
  case Effect::Compare: {
    // p + n == p + m tells nothing of p; p + n < p + m does, where one of the two wraps around.
    const bool isEquality = instruction.hasModifier("eq") || instruction.hasModifier("ne");
    return {isEquality && !types.isFloat ? Combine::Equal : Combine::Blend, Finish::Narrow};
  }
  case Effect::IsAddress:
    return {Combine::Join, Finish::Narrow};
  case Effect::Narrow:
    return {Combine::Blend, Finish::Narrow};
  case Effect::Gather:
    return {Combine::Blend, Finish::Gather};
  case Effect::ShiftRight:
  case Effect::Extract:
  case Effect::Remainder:
  case Effect::Blend:
  case Effect::Carry:
  default:
    return kBlend;
  }
}

// Immediates ----------------------------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kFewAnswers = uint64_t(1) << kFewBits;

/// An instruction with what is known of the numbers among its operands.
struct Numbers {
  const ptx::Instruction &instruction;
  const OperandNumbers &known;

  std::optional<uint64_t> operator[](size_t operand) const {
    if (operand >= instruction.operands.size())
      return {};
    if (instruction.operands[operand].kind == ptx::Operand::Kind::Integer)
      return instruction.operands[operand].bits;
    return operand < known.size() ? known[operand] : std::nullopt;
  }
};

std::optional<Refined> refineBits(const Numbers &numbers, const Types &types, Effect effect) {
  const ptx::Instruction &instruction = numbers.instruction;
  if (instruction.operands.size() != 3 || types.isPredicate || types.lastBytes == 0)
    return {};
  const uint64_t all = types.lastBytes < 8 ? (uint64_t(1) << (8 * types.lastBytes)) - 1 : ~uint64_t(0);
  for (uint32_t operand : {2u, 1u}) {
    const std::optional<uint64_t> bits = numbers[operand];
    if (!bits)
      continue;
    const uint64_t mask = *bits & all;
    const uint32_t other = 3 - operand;
    if (effect == Effect::Mask && mask <= kPublicBits)
      return Refined{{Combine::Join, Finish::LowIndex}, other};
    if (effect == Effect::Mask && std::popcount(mask) <= kFewBits)
      return Refined{{Combine::Join, mask <= kIndexMask ? Finish::Index : Finish::Narrow}, other};
    // The rest stays where it is: what is taken off or put on is public.
    const uint64_t changed = effect == Effect::Mask ? all & ~mask : mask;
    if (changed <= kPublicBits && (instruction.opcode != "lop3"))
      return Refined{{Combine::Adjust, finishOf(types.lastBytes)}, other};
  }
  return {};
}

std::optional<Refined> refineShift(const Numbers &numbers, const Types &types) {
  const std::optional<uint64_t> by = numbers[2];
  if (!by || types.lastBytes == 0 || *by + kFewBits < 8 * types.lastBytes)
    return {};
  return Refined{{Combine::Blend, types.isSigned ? Finish::Narrow : Finish::Index}, 1};
}

std::optional<Refined> refineExtract(const Numbers &numbers, const Types &types) {
  const std::optional<uint64_t> from = numbers[2], count = numbers[3];
  if (!count)
    return {};
  if (from && (*from & 255) + (*count & 255) <= std::bit_width(kPublicBits))
    return Refined{{Combine::Join, types.isSigned ? Finish::LowByte : Finish::LowIndex}, 1};
  if (from && (*count & 255) <= kFewBits)
    return Refined{{Combine::Blend, types.isSigned ? Finish::Narrow : Finish::Index}, 1};
  return {};
}

std::optional<Refined> refineRemainder(const Numbers &numbers, const Types &types) {
  const std::optional<uint64_t> by = numbers[2];
  if (!by || types.isFloat || *by == 0)
    return {};
  if (!types.isSigned && std::has_single_bit(*by) && *by <= kPublicBits + 1)
    return Refined{{Combine::Join, Finish::LowIndex}, 1};
  if (*by <= (types.isSigned ? kFewAnswers / 2 : kFewAnswers)) // of both signs
    return Refined{{Combine::Blend, types.isSigned ? Finish::Narrow : Finish::Index}, 1};
  return {};
}

/// a * 12, a * 12 + b, a << 2.
std::optional<Refined> refineScale(const Numbers &numbers, const Types &types, Effect effect) {
  const ptx::Instruction &instruction = numbers.instruction;
  const size_t operands = effect == Effect::MultiplyAdd ? 4 : 3;
  if (instruction.operands.size() != operands || types.isFloat || types.isPacked || instruction.hasModifier("hi") ||
      instruction.hasModifier("sat"))
    return {};
  const Finish finish = instruction.hasModifier("wide") ? Finish::Keep : finishOf(types.lastBytes);
  for (uint32_t operand : {2u, 1u}) {
    const ptx::Operand &factor = instruction.operands[operand];
    if (factor.kind != ptx::Operand::Kind::Integer || (effect == Effect::ShiftLeft && operand != 2))
      continue;
    const uint64_t largest = effect == Effect::ShiftLeft ? std::bit_width(kLargestScale) - 1 : kLargestScale;
    if (factor.bits <= largest)
      return Refined{{Combine::Scale, finish}, 3 - operand, effect == Effect::MultiplyAdd ? 3u : 0u};
  }
  return {};
}

} // namespace

std::optional<Refined> refinedBy(const ptx::Instruction &instruction, Effect effect, const OperandNumbers &known) {
  const Numbers numbers = {instruction, known};
  switch (effect) {
  case Effect::Mask:
  case Effect::Bitwise:
    return refineBits(numbers, typesOf(instruction), effect);
  case Effect::ShiftRight:
    return refineShift(numbers, typesOf(instruction));
  case Effect::Extract:
    return refineExtract(numbers, typesOf(instruction));
  case Effect::Remainder:
    return refineRemainder(numbers, typesOf(instruction));
  case Effect::Product:
  case Effect::MultiplyAdd:
  case Effect::ShiftLeft:
    return refineScale(numbers, typesOf(instruction), effect);
  default:
    return {};
  }
}

} // namespace tenon::linker
