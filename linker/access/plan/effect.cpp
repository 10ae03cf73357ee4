// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/effect.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace tenon::linker {
namespace {

/// Opcodes that need a look at their modifiers.
enum class Family : uint8_t { Plain, AsyncCopy, Multimem, Wmma, Barrier, TensorMemory, Mad };

struct Row {
  std::string_view opcode;
  Effect effect = Effect::Number;
  Family family = Family::Plain;
  uint8_t firstSource = 0, sources = 0;
};

// Sorted by opcode. Source: PTX ISA 9.0, "Instruction Set".
constexpr Row kRows[] = {
    {"activemask", Effect::Number},
    {"add", Effect::Sum},
    {"addc", Effect::Sum},
    {"alloca", Effect::LocalAddress},
    {"and", Effect::Mask},
    {"applypriority", Effect::None},
    {"atom", Effect::Atomic},
    {"bar", Effect::None, Family::Barrier},
    {"barrier", Effect::None, Family::Barrier},
    {"bfind", Effect::Number},
    {"bra", Effect::None},
    {"brkpt", Effect::None},
    {"brx", Effect::None},
    {"call", Effect::Call},
    {"clusterlaunchcontrol", Effect::Number},
    {"clz", Effect::Number},
    {"cp", Effect::None, Family::AsyncCopy},
    {"createpolicy", Effect::Number},
    {"cvt", Effect::Copy, Family::Plain, 1, 1},
    {"cvta", Effect::Copy, Family::Plain, 1, 1},
    {"discard", Effect::Store},
    {"elect", Effect::Number},
    {"exit", Effect::None},
    {"fence", Effect::None},
    {"fns", Effect::Number},
    {"getctarank", Effect::Number},
    {"griddepcontrol", Effect::None},
    {"isspacep", Effect::Number},
    {"istypep", Effect::Number},
    {"ld", Effect::Load},
    {"ldmatrix", Effect::Load},
    {"ldu", Effect::Load},
    {"lop3", Effect::Sum},
    {"mad", Effect::MultiplyAdd, Family::Mad},
    {"mad24", Effect::MultiplyAdd, Family::Mad},
    {"madc", Effect::MultiplyAdd, Family::Mad},
    {"mapa", Effect::Copy, Family::Plain, 1, 1},
    {"match", Effect::Number},
    {"max", Effect::Copy},
    {"mbarrier", Effect::Number},
    {"membar", Effect::None},
    {"min", Effect::Copy},
    {"mov", Effect::Copy},
    {"multimem", Effect::Unknown, Family::Multimem},
    {"nanosleep", Effect::None},
    {"or", Effect::Sum},
    {"pmevent", Effect::None},
    {"popc", Effect::Number},
    {"prefetch", Effect::None},
    {"prefetchu", Effect::None},
    {"red", Effect::Store},
    {"ret", Effect::None},
    {"selp", Effect::Copy, Family::Plain, 1, 2},
    {"set", Effect::Number},
    {"setmaxnreg", Effect::None},
    {"setp", Effect::Number},
    {"shfl", Effect::Copy, Family::Plain, 1, 1},
    {"slct", Effect::Copy, Family::Plain, 1, 2},
    {"st", Effect::Store},
    {"stackrestore", Effect::None},
    {"stacksave", Effect::LocalAddress},
    {"stmatrix", Effect::Store},
    {"sub", Effect::Difference},
    {"subc", Effect::Difference},
    {"suld", Effect::ForeignLoad},
    {"suq", Effect::Number},
    {"sured", Effect::StoreToMap},
    {"sust", Effect::StoreToMap},
    {"tcgen05", Effect::None, Family::TensorMemory},
    {"tensormap", Effect::Store},
    {"testp", Effect::Number},
    {"tex", Effect::ForeignLoad},
    {"tld4", Effect::ForeignLoad},
    {"trap", Effect::None},
    {"txq", Effect::Number},
    {"vote", Effect::Number},
    {"wmma", Effect::Scale, Family::Wmma},
    {"xor", Effect::Sum},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::opcode));

/// kFirst[c - 'a']: the first row whose opcode begins with c or a later letter.
constexpr auto kFirst = [] {
  std::array<uint8_t, 27> first = {};
  for (size_t letter = 0; letter < first.size(); ++letter)
    while (first[letter] < std::size(kRows) && kRows[first[letter]].opcode[0] < char('a' + letter))
      ++first[letter];
  return first;
}();
static_assert(std::size(kRows) < 256);

const Row *find(std::string_view opcode) {
  if (opcode.empty() || opcode[0] < 'a' || opcode[0] > 'z')
    return nullptr;
  const size_t letter = size_t(opcode[0] - 'a');
  for (size_t i = kFirst[letter]; i < kFirst[letter + 1]; ++i)
    if (kRows[i].opcode == opcode)
      return &kRows[i];
  return nullptr;
}

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

Effect refine(const Row &row, const ptx::Instruction &instruction, ptx::StateSpace space) {
  switch (row.family) {
  case Family::Plain:
    return row.effect;
  case Family::AsyncCopy:
    return asyncCopy(instruction, space);
  case Family::Multimem:
    if (instruction.hasModifier("ld_reduce"))
      return Effect::Load;
    return instruction.hasModifier("cp") ? Effect::CopyToGlobal : Effect::Store;
  case Family::Wmma:
    return instruction.hasModifier("load")    ? Effect::Load
           : instruction.hasModifier("store") ? Effect::Store
                                              : Effect::Scale;
  case Family::Barrier:
    return instruction.hasModifier("red") ? Effect::Number : Effect::None;
  case Family::TensorMemory:
    return instruction.hasModifier("ld") ? Effect::ForeignLoad : Effect::None;
  case Family::Mad:
    return instruction.hasModifier("hi") ? Effect::Scale : Effect::MultiplyAdd;
  }
}

} // namespace

bool hasAddress(const ptx::Instruction &instruction) {
  return std::ranges::any_of(instruction.operands,
                             [](const ptx::Operand &operand) { return operand.kind == ptx::Operand::Kind::Address; });
}

bool dependsOnOperands(std::string_view opcode) {
  const Row *row = find(opcode);
  return !row || row->family == Family::AsyncCopy;
}

EffectOf effectOf(const ptx::Instruction &instruction) {
  const Row *row = find(instruction.opcode);
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
    const ptx::StateSpace space = row->effect == Effect::None && row->family == Family::Plain ? ptx::StateSpace::Generic
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
