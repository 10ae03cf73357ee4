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
  constexpr RowBuilder from(uint8_t firstOperand, uint8_t operands) const {
    RowBuilder row = *this;
    row.firstSource = firstOperand;
    row.sources = operands;
    return row;
  }
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
  constexpr RowBuilder conversion() const {
    RowBuilder row = *this;
    row.convertsAddress = true;
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
    row("abs", Effect::Scale),
    row("activemask", Effect::Number),
    row("add", Effect::Sum),
    row("addc", Effect::Sum),
    row("alloca", Effect::LocalAddress),
    row("and", Effect::Mask),
    row("applypriority", Effect::None),
    row("atom", Effect::Atomic),
    row("bar", Effect::None, EffectRule::Barrier),
    row("barrier", Effect::None, EffectRule::Barrier),
    row("bfe", Effect::Scale),
    row("bfi", Effect::Scale),
    row("bfind", Effect::Number),
    row("bmsk", Effect::Scale),
    row("bra", Effect::None).continuesAt(Control::Branch).begins(FirstOperand::Source),
    row("brev", Effect::Scale),
    row("brkpt", Effect::None),
    row("brx", Effect::None).continuesAt(Control::TableBranch).begins(FirstOperand::Source),
    row("call", Effect::Call).continuesAt(Control::Call).begins(FirstOperand::ResultList),
    row("clusterlaunchcontrol", Effect::Number),
    row("clz", Effect::Number),
    row("cnot", Effect::Scale),
    row("copysign", Effect::Scale),
    row("cos", Effect::Scale),
    row("cp", Effect::None, EffectRule::AsyncCopy),
    row("createpolicy", Effect::Number),
    row("cvt", Effect::Copy).from(1, 1),
    row("cvta", Effect::Copy).from(1, 1).conversion(),
    row("discard", Effect::Store),
    row("div", Effect::Scale),
    row("dp2a", Effect::Scale),
    row("dp4a", Effect::Scale),
    row("elect", Effect::Number),
    row("ex2", Effect::Scale),
    row("exit", Effect::None).continuesAt(Control::Exit).begins(FirstOperand::Source),
    row("fence", Effect::None),
    row("fma", Effect::Scale),
    row("fns", Effect::Number),
    row("getctarank", Effect::Number),
    row("griddepcontrol", Effect::None),
    row("isspacep", Effect::Number),
    row("istypep", Effect::Number).withHandle(),
    row("ld", Effect::Load),
    row("ldmatrix", Effect::Load),
    row("ldu", Effect::Load),
    row("lg2", Effect::Scale),
    row("lop3", Effect::Sum),
    row("mad", Effect::MultiplyAdd, EffectRule::Mad),
    row("mad24", Effect::MultiplyAdd, EffectRule::Mad),
    row("madc", Effect::MultiplyAdd, EffectRule::Mad),
    row("mapa", Effect::Copy).from(1, 1),
    row("match", Effect::Number),
    row("max", Effect::Copy),
    row("mbarrier", Effect::Number),
    row("membar", Effect::None),
    row("min", Effect::Copy),
    row("mma", Effect::Scale),
    row("mov", Effect::Copy),
    row("movmatrix", Effect::Scale),
    row("mul", Effect::Scale),
    row("mul24", Effect::Scale),
    row("multimem", Effect::Unknown, EffectRule::Multimem),
    row("nanosleep", Effect::None).begins(FirstOperand::Source),
    row("neg", Effect::Scale),
    row("not", Effect::Scale),
    row("or", Effect::Sum),
    row("pmevent", Effect::None).begins(FirstOperand::Source),
    row("popc", Effect::Number),
    row("prefetch", Effect::None),
    row("prefetchu", Effect::None),
    row("prmt", Effect::Scale),
    row("rcp", Effect::Scale),
    row("red", Effect::Store),
    row("redux", Effect::Scale),
    row("rem", Effect::Scale),
    row("ret", Effect::None).continuesAt(Control::Exit).begins(FirstOperand::Source),
    row("rsqrt", Effect::Scale),
    row("sad", Effect::Scale),
    row("selp", Effect::Copy).from(1, 2),
    row("set", Effect::Number),
    row("setmaxnreg", Effect::None).begins(FirstOperand::Source),
    row("setp", Effect::Number),
    row("shf", Effect::Scale),
    row("shfl", Effect::Copy).from(1, 1),
    row("shl", Effect::Scale),
    row("shr", Effect::Scale),
    row("sin", Effect::Scale),
    row("slct", Effect::Copy).from(1, 2),
    row("sqrt", Effect::Scale),
    row("st", Effect::Store),
    row("stackrestore", Effect::None).begins(FirstOperand::Source),
    row("stacksave", Effect::LocalAddress),
    row("stmatrix", Effect::Store),
    row("sub", Effect::Difference),
    row("subc", Effect::Difference),
    row("suld", Effect::ForeignLoad).withHandle(),
    row("suq", Effect::Number).withHandle(),
    row("sured", Effect::StoreToMap).withHandle(),
    row("sust", Effect::StoreToMap).withHandle(),
    row("szext", Effect::Scale),
    row("tanh", Effect::Scale),
    row("tcgen05", Effect::None, EffectRule::TensorMemory),
    row("tensormap", Effect::Store),
    row("testp", Effect::Number),
    row("tex", Effect::ForeignLoad).withHandle(),
    row("tld4", Effect::ForeignLoad).withHandle(),
    row("trap", Effect::None).continuesAt(Control::Exit),
    row("txq", Effect::Number).withHandle(),
    row("vabsdiff2", Effect::Scale),
    row("vabsdiff4", Effect::Scale),
    row("vadd2", Effect::Scale),
    row("vadd4", Effect::Scale),
    row("vavrg2", Effect::Scale),
    row("vavrg4", Effect::Scale),
    row("vmax2", Effect::Scale),
    row("vmax4", Effect::Scale),
    row("vmin2", Effect::Scale),
    row("vmin4", Effect::Scale),
    row("vote", Effect::Number),
    row("vsub2", Effect::Scale),
    row("vsub4", Effect::Scale),
    row("wgmma", Effect::Scale),
    row("wmma", Effect::Scale, EffectRule::Wmma),
    row("xor", Effect::Sum),
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
  case EffectRule::Mad:
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
