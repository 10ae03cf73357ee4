// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/effect.h"

#include <algorithm>
#include <optional>

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
                                              : Effect::Scale;
  case EffectRule::Barrier:
    return instruction.hasModifier("red") ? Effect::Number : Effect::None;
  case EffectRule::TensorMemory:
    return instruction.hasModifier("ld") ? Effect::ForeignLoad : Effect::None;
  case EffectRule::Mad:
    return instruction.hasModifier("hi") ? Effect::Scale : Effect::MultiplyAdd;
  }
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
  if (!row) {
    if (hasAddress(instruction))
      return {.effect = Effect::Unknown, .space = firstSpace(instruction)};
    return {.effect = Effect::Scale};
  }
  switch (row->effect) {
  case Effect::Load:
  case Effect::Store:
  case Effect::Atomic:
  case Effect::Unknown:
  case Effect::None:
  case Effect::Scale: {
    const ptx::StateSpace space = row->effect == Effect::None && row->rule == EffectRule::Fixed
                                      ? ptx::StateSpace::Generic
                                      : firstSpace(instruction);
    return {.effect = refine(*row, instruction, space), .space = space};
  }
  case Effect::Number:
  case Effect::Copy:
  case Effect::Sum:
  case Effect::Difference:
  case Effect::MultiplyAdd:
  case Effect::Mask:
  case Effect::LocalAddress:
  case Effect::ForeignLoad:
  case Effect::CopyToGlobal:
  case Effect::CopyToShared:
  case Effect::StoreToMap:
  case Effect::Call:
    break;
  }
  return {.effect = refine(*row, instruction, ptx::StateSpace::Generic),
          .firstSource = row->firstSource,
          .sources = row->sources};
}

} // namespace tenon::linker
