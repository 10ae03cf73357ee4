// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/ptxas_errors.h"

#include "compiler/codegen/ptx/register_facts.h"
#include "ptx/parse/parser.h"
#include "ptx/printer.h"

#include "llvm/ADT/StringRef.h"

namespace tenon::compiler::codegen {
namespace {

using ptx::Instruction;
using Kind = ptx::Operand::Kind;

/// "@%p1 ", or nothing.
std::string guardOf(const Instruction &of) {
  return of.predicate.empty() ? "" : (of.predicateNegated ? "@!" : "@") + std::string(of.predicate) + " ";
}

std::string word(const char *stem, unsigned bits) {
  return stem + std::to_string(bits);
}

// Registers of their own stand in a scope around the new instructions. Their names are nobody else's.

/// abs.s16, abs.s32, abs.s64, neg.s16: d, a; and neg.s32, where the larger or smaller of signed numbers is taken
bool isOtherSign(const Instruction &of, const RegisterFacts &registers) {
  if (of.operands.size() != 2)
    return false;
  const ptx::ScalarType type = lastType(of);
  return (of.opcode == "abs" && ptx::isSigned(type)) ||
         (of.opcode == "neg" &&
          (type == ptx::ScalarType::S16 || (type == ptx::ScalarType::S32 && registers.takesSignedExtremes())));
}
std::string otherSign(const Instruction &of) {
  const std::string to = print(of.operands[0]), from = print(of.operands[1]), guard = guardOf(of);
  const unsigned bits = bitsOfType(lastType(of));
  std::string text = word("{ .reg .b", bits) + " %tenon_negative; ";
  if (bits == 16) // of 32 bits, and 16 of them
    text += ".reg .b32 %tenon_wide; cvt.u32.u16 %tenon_wide, " + from +
            "; neg.s32 %tenon_wide, %tenon_wide; cvt.u16.u32 %tenon_negative, %tenon_wide; ";
  else if (bits == 32) // -x is ~x + 1
    text += "not.b32 %tenon_negative, " + from + "; add.s32 %tenon_negative, %tenon_negative, 1; ";
  else
    text += word("neg.s", bits) + " %tenon_negative, " + from + "; ";
  if (of.opcode == "neg")
    return text + guard + word("mov.b", bits) + " " + to + ", %tenon_negative; }";
  return text + guard + word("max.s", bits) + " " + to + ", " + from + ", %tenon_negative; }";
}

/// min d, a, b, one of which is a bound: behind it, the bound where the other is NaN.
std::string boundOfNaN(const Instruction &of, size_t bound) {
  const ptx::ScalarType type = typeOfResult(of);
  const std::string to = print(of.operands[0]), from = print(of.operands[3 - bound]), name(spelling(type));
  return print(of) + " { .reg .pred %tenon_isNan; setp.nan." + name + " %tenon_isNan, " + from + ", " + from + "; " +
         guardOf(of) + "selp." + (type == ptx::ScalarType::F16 ? "b16" : name) + " " + to + ", " +
         print(of.operands[bound]) + ", " + to + ", %tenon_isNan; }";
}

/// Whether the last operand's bits are read, of a number in floating point: by a store that is narrower, or a shift of
/// 64 bits.
bool readsBits(const Instruction &of, uint32_t index, const RegisterFacts &registers) {
  const bool isStore = of.opcode == "st" && of.operands.size() == 2;
  if (!isStore && !((of.opcode == "shl" || of.opcode == "shr") && of.operands.size() == 3))
    return false;
  const uint32_t last = registers.registerOf(index, of.operands.size() - 1);
  const unsigned bits = bitsOfType(lastType(of));
  return registers.isFloating(last) && (isStore ? bits < registers.bitsOfRegister(last) : bits == 64);
}
/// The instruction, of a copy of its last operand.
std::string ofCopiedBits(const Instruction &of, unsigned bits) {
  std::vector<ptx::Operand> operands(of.operands.begin(), of.operands.end());
  operands.back() = {.name = "%tenon_bits"};
  Instruction copied = of;
  copied.operands = ptx::List<ptx::Operand>(operands.data(), operands.size());
  return word("{ .reg .b", bits) + word(" %tenon_bits; mov.b", bits) + " %tenon_bits, " + print(of.operands.back()) +
         "; " + print(copied) + " }";
}

/// mov.b32 {lower, upper}, whole, which is extended
bool takesUpperHalf(const Instruction &of, uint32_t index, const RegisterFacts &registers) {
  return of.opcode == "mov" && lastType(of) == ptx::ScalarType::B32 && of.operands.size() == 2 &&
         of.operands[0].elements.size() == 2 && of.operands[0].elements[1].kind == Kind::Name &&
         registers.isExtended(registers.registerOf(index, 1));
}
std::string halvesByShift(const Instruction &of) {
  const ptx::Operand &lower = of.operands[0].elements[0], &upper = of.operands[0].elements[1];
  const std::string whole = print(of.operands[1]), guard = guardOf(of);
  std::string text = "{ .reg .b32 %tenon_upper; shr.u32 %tenon_upper, " + whole + ", 16; ";
  if (lower.kind == Kind::Name)
    text += guard + "cvt.u16.u32 " + print(lower) + ", " + whole + "; ";
  return text + guard + "cvt.u16.u32 " + print(upper) + ", %tenon_upper; }";
}

/// mul.hi.s32, mul.hi.u32: d, a, b
bool isHighProduct(const Instruction &of) {
  return of.opcode == "mul" && of.hasModifier("hi") && bitsOfType(lastType(of)) == 32 && of.operands.size() == 3;
}
std::string upperHalfOfProduct(const Instruction &of) {
  return "{ .reg .b32 %tenon_lower; .reg .b64 %tenon_product; mul.wide." + std::string(of.modifiers.back()) +
         " %tenon_product, " + print(of.operands[1]) + ", " + print(of.operands[2]) + "; " + guardOf(of) +
         "mov.b64 {%tenon_lower, " + print(of.operands[0]) + "}, %tenon_product; }";
}

/// setp.eq.b16 p, a, b, or of 32 bits, which may be extended ones; where the larger or smaller of 16 bits is taken
bool isEqualityOfExtremes(const Instruction &of, const RegisterFacts &registers) {
  const unsigned bits = bitsOfType(lastType(of));
  return registers.takesNarrowExtremes() && of.opcode == "setp" && of.hasModifier("eq") && of.modifiers.size() == 2 &&
         (bits == 16 || bits == 32) && !ptx::isFloat(lastType(of)) && of.operands.size() == 3 &&
         of.operands[0].kind == Kind::Name;
}
std::string notDifferent(const Instruction &of) {
  const std::string type(of.modifiers.back());
  return "{ .reg .pred %tenon_differ; setp.ne." + type + " %tenon_differ, " + print(of.operands[1]) + ", " +
         print(of.operands[2]) + "; " + guardOf(of) + "not.pred " + print(of.operands[0]) + ", %tenon_differ; }";
}

/// An instruction in another way; empty: as it is.
std::string rewritten(const Instruction &of, uint32_t index, const RegisterFacts &registers) {
  if (isOtherSign(of, registers))
    return otherSign(of);
  if (isHighProduct(of))
    return upperHalfOfProduct(of);
  if (isEqualityOfExtremes(of, registers))
    return notDifferent(of);
  if (const std::optional<size_t> bound = registers.clampOf(index))
    return boundOfNaN(of, *bound);
  if (readsBits(of, index, registers))
    return ofCopiedBits(of, registers.bitsOfRegister(registers.registerOf(index, of.operands.size() - 1)));
  return takesUpperHalf(of, index, registers) ? halvesByShift(of) : "";
}

} // namespace

unsigned writeAroundPtxasErrors(llvm::SmallVectorImpl<char> &ptx) {
  unsigned count = 0;
  std::string result;
  size_t done = 0;
  ptx::DefUseFinder finder;
  ptx::ModuleNames names;
  const auto source = std::make_shared<SourceFile>("kernel.ptx", std::string(ptx.data(), ptx.size()));
  const std::string_view text = source->text();
  Diagnostics errors; // who takes the text reads it, too, and reports them
  ptx::parseBodies(source, errors, [&](const ptx::Module &module, const ptx::Function &function) {
    names.learn(module);
    const RegisterFacts registers(function, finder.run(function, names));
    for (uint32_t i = 0; i < function.instructions.size(); ++i) {
      const Instruction &instruction = function.instructions[i];
      const std::string other = rewritten(instruction, i, registers);
      if (other.empty())
        continue;
      ++count;
      result.append(text, done, instruction.range.begin - done).append(other);
      done = instruction.range.end;
    }
  });
  if (count) {
    result.append(text, done);
    ptx.assign(result.begin(), result.end());
  }
  return count;
}

} // namespace tenon::compiler::codegen
