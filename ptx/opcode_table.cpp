// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table, and what of a row the parser keeps with each instruction (opcode_facts.h).
#include "ptx/opcode_table.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tenon::ptx {
namespace {

/// A row and what is unusual about it.
struct RowBuilder : OpcodeRow {
  constexpr RowBuilder continuesAt(Control where) const {
    RowBuilder row = *this;
    row.control = where;
    return row;
  }
  constexpr RowBuilder begins(FirstOperand with) const {
    RowBuilder row = *this;
    row.first = with;
    return row;
  }
  constexpr RowBuilder withHandle() const {
    RowBuilder row = *this;
    row.takesHandle = true;
    return row;
  }
};

constexpr RowBuilder row(std::string_view opcode, Effect effect, EffectRule rule = EffectRule::Fixed) {
  RowBuilder made;
  made.opcode = opcode;
  made.effect = effect;
  made.rule = rule;
  return made;
}

// Sorted by opcode.
constexpr OpcodeRow kRows[] = {
    row("abs", Effect::Blend),
    row("activemask", Effect::Number),
    row("add", Effect::Sum),
    row("addc", Effect::Carry),
    row("alloca", Effect::LocalAddress),
    row("and", Effect::Mask),
    row("applypriority", Effect::None),
    row("atom", Effect::Atomic),
    row("bar", Effect::None, EffectRule::Barrier),
    row("barrier", Effect::None, EffectRule::Barrier),
    row("bfe", Effect::Extract),
    row("bfi", Effect::Blend),
    row("bfind", Effect::Narrow),
    row("bmsk", Effect::Blend),
    row("bra", Effect::None).continuesAt(Control::Branch).begins(FirstOperand::Source),
    row("brev", Effect::Blend),
    row("brkpt", Effect::None),
    row("brx", Effect::None).continuesAt(Control::TableBranch).begins(FirstOperand::Source),
    row("call", Effect::Call).continuesAt(Control::Call).begins(FirstOperand::ResultList),
    row("clusterlaunchcontrol", Effect::Blend),
    row("clz", Effect::Narrow),
    row("cnot", Effect::Narrow),
    row("copysign", Effect::Blend),
    row("cos", Effect::Blend),
    row("cp", Effect::None, EffectRule::AsyncCopy),
    row("createpolicy", Effect::Blend),
    row("cvt", Effect::Convert),
    row("cvta", Effect::ToAddress),
    row("discard", Effect::Store),
    row("div", Effect::Blend),
    row("dp2a", Effect::Blend),
    row("dp4a", Effect::Blend),
    row("elect", Effect::Gather),
    row("ex2", Effect::Blend),
    row("exit", Effect::None).continuesAt(Control::Exit).begins(FirstOperand::Source),
    row("fence", Effect::None),
    row("fma", Effect::Blend),
    row("fns", Effect::Narrow),
    row("getctarank", Effect::Narrow),
    row("griddepcontrol", Effect::None),
    row("isspacep", Effect::IsAddress),
    row("istypep", Effect::Number).withHandle(),
    row("ld", Effect::Load),
    row("ldmatrix", Effect::Load),
    row("ldu", Effect::Load),
    row("lg2", Effect::Blend),
    row("lop3", Effect::Bitwise),
    row("mad", Effect::MultiplyAdd),
    row("mad24", Effect::MultiplyAdd),
    row("madc", Effect::Carry),
    row("mapa", Effect::Shuffle),
    row("match", Effect::Gather),
    row("max", Effect::Extreme),
    row("mbarrier", Effect::Synchronise),
    row("membar", Effect::None),
    row("min", Effect::Extreme),
    row("mma", Effect::Gather),
    row("mov", Effect::Copy),
    row("movmatrix", Effect::Gather),
    row("mul", Effect::Product),
    row("mul24", Effect::Product),
    row("multimem", Effect::Unknown, EffectRule::Multimem),
    row("nanosleep", Effect::None).begins(FirstOperand::Source),
    row("neg", Effect::Negate),
    row("not", Effect::Negate),
    row("or", Effect::Bitwise),
    row("pmevent", Effect::None).begins(FirstOperand::Source),
    row("popc", Effect::Narrow),
    row("prefetch", Effect::None),
    row("prefetchu", Effect::None),
    row("prmt", Effect::Blend),
    row("rcp", Effect::Blend),
    row("red", Effect::Atomic),
    row("redux", Effect::Gather),
    row("rem", Effect::Remainder),
    row("ret", Effect::None).continuesAt(Control::Exit).begins(FirstOperand::Source),
    row("rsqrt", Effect::Blend),
    row("sad", Effect::Blend),
    row("selp", Effect::Select),
    row("set", Effect::Compare),
    row("setmaxnreg", Effect::None).begins(FirstOperand::Source),
    row("setp", Effect::Compare),
    row("shf", Effect::Blend),
    row("shfl", Effect::Shuffle),
    row("shl", Effect::ShiftLeft),
    row("shr", Effect::ShiftRight),
    row("sin", Effect::Blend),
    row("slct", Effect::Select),
    row("sqrt", Effect::Blend),
    row("st", Effect::Store),
    row("stackrestore", Effect::Synchronise).begins(FirstOperand::Source),
    row("stacksave", Effect::LocalAddress),
    row("stmatrix", Effect::Store),
    row("sub", Effect::Difference),
    row("subc", Effect::Carry),
    row("suld", Effect::ForeignLoad).withHandle(),
    row("suq", Effect::Number).withHandle(),
    row("sured", Effect::StoreToMap).withHandle(),
    row("sust", Effect::StoreToMap).withHandle(),
    row("szext", Effect::Blend),
    row("tanh", Effect::Blend),
    row("tcgen05", Effect::None, EffectRule::TensorMemory),
    row("tensormap", Effect::Store, EffectRule::TensorMap),
    row("testp", Effect::Narrow),
    row("tex", Effect::ForeignLoad).withHandle(),
    row("tld4", Effect::ForeignLoad).withHandle(),
    row("trap", Effect::None).continuesAt(Control::Exit),
    row("txq", Effect::Number).withHandle(),
    row("vabsdiff", Effect::Blend),
    row("vabsdiff2", Effect::Blend),
    row("vabsdiff4", Effect::Blend),
    row("vadd", Effect::Blend),
    row("vadd2", Effect::Blend),
    row("vadd4", Effect::Blend),
    row("vavrg2", Effect::Blend),
    row("vavrg4", Effect::Blend),
    row("vmad", Effect::Blend),
    row("vmax", Effect::Blend),
    row("vmax2", Effect::Blend),
    row("vmax4", Effect::Blend),
    row("vmin", Effect::Blend),
    row("vmin2", Effect::Blend),
    row("vmin4", Effect::Blend),
    row("vote", Effect::Narrow, EffectRule::Vote),
    row("vset", Effect::Blend),
    row("vset2", Effect::Blend),
    row("vset4", Effect::Blend),
    row("vshl", Effect::Blend),
    row("vshr", Effect::Blend),
    row("vsub", Effect::Blend),
    row("vsub2", Effect::Blend),
    row("vsub4", Effect::Blend),
    row("wgmma", Effect::SharedProduct),
    row("wmma", Effect::Gather, EffectRule::Wmma),
    row("xor", Effect::Bitwise),
};
static_assert(std::ranges::is_sorted(kRows, {}, &OpcodeRow::opcode));

/// kFirst[c - 'a']: the first row whose opcode begins with c or a later letter.
constexpr auto kFirst = [] {
  std::array<uint8_t, 27> first = {};
  for (size_t letter = 0; letter < first.size(); ++letter)
    while (first[letter] < std::size(kRows) && kRows[first[letter]].opcode[0] < char('a' + letter))
      ++first[letter];
  return first;
}();
static_assert(std::size(kRows) < 256);

} // namespace

const OpcodeRow *findOpcode(std::string_view opcode) {
  if (opcode.empty() || opcode[0] < 'a' || opcode[0] > 'z')
    return nullptr;
  const size_t letter = size_t(opcode[0] - 'a');
  for (size_t i = kFirst[letter]; i < kFirst[letter + 1]; ++i)
    if (kRows[i].opcode == opcode)
      return &kRows[i];
  return nullptr;
}

std::span<const OpcodeRow> allOpcodes() {
  return kRows;
}

/// Barriers have a result where they reduce, tensor memory where it is loaded.
static FirstOperand firstOperandOf(const OpcodeRow &row, std::span<const std::string_view> modifiers) {
  auto resultIf = [&](std::string_view modifier) {
    return std::ranges::find(modifiers, modifier) != modifiers.end() ? FirstOperand::Result : FirstOperand::Source;
  };
  switch (row.rule) {
  case EffectRule::Barrier:
    return resultIf("red");
  case EffectRule::TensorMemory:
    return resultIf("ld");
  case EffectRule::Fixed:
  case EffectRule::AsyncCopy:
  case EffectRule::Multimem:
  case EffectRule::Wmma:
  case EffectRule::TensorMap:
  case EffectRule::Vote:
    return row.first;
  }
}

OpcodeFacts factsOf(std::string_view opcode, std::span<const std::string_view> modifiers) {
  const OpcodeRow *row = findOpcode(opcode);
  if (!row)
    return {.first = opcode.empty() ? FirstOperand::Source : FirstOperand::Result};
  return {.control = row->control, .first = firstOperandOf(*row, modifiers), .takesHandle = row->takesHandle};
}

} // namespace tenon::ptx
