// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/ptxas_errors.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <tuple>

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

/// `@predicate opcode.modifiers \t operands;`
struct Line {
  StringRef predicate, opcode; // with its modifiers
  SmallVector<StringRef, 6> operands;
};

Line parse(StringRef text) {
  Line line;
  text = text.trim();
  if (text.starts_with("@")) {
    line.predicate = text.take_until([](char c) { return c == ' ' || c == '\t'; });
    text = text.drop_front(line.predicate.size()).ltrim();
  }
  line.opcode = text.take_until([](char c) { return c == ' ' || c == '\t'; });
  text = text.drop_front(line.opcode.size()).take_until([](char c) { return c == ';'; });
  text.split(line.operands, ',');
  for (StringRef &operand : line.operands)
    operand = operand.trim(" \t{}");
  return line;
}

/// Whether nothing follows the first statement: what somebody wrote may have several in a line.
bool isSingle(StringRef text) {
  return text.split(';').second.trim().empty();
}

unsigned bitsOfRegister(StringRef name) {
  return name.starts_with("%rs") ? 16 : name.starts_with("%rd") ? 64 : name.starts_with("%r") ? 32 : 0;
}

/// Of a type without its dot; 0: no type.
unsigned bitsOfType(StringRef type) {
  unsigned bits = 0;
  return type.size() > 1 && StringRef("bsuf").contains(type[0]) && !type.drop_front().getAsInteger(10, bits) ? bits : 0;
}

/// The first of the modifiers that is a type is the result's.
StringRef typeOfResult(StringRef opcode) {
  SmallVector<StringRef, 8> parts;
  opcode.split(parts, '.');
  for (StringRef part : ArrayRef(parts).drop_front())
    if (part == "bf16" || bitsOfType(part) || part.contains("x2") || part.contains("x4"))
      return part;
  return "";
}

StringRef lastType(StringRef opcode) {
  return opcode.substr(opcode.rfind('.') + 1);
}

bool isStore(StringRef opcode) {
  return opcode.starts_with("st.") && !opcode.contains(".v2.") && !opcode.contains(".v4.") && !opcode.contains(".v8.");
}

/// In the bits of a type: f16, f32, f64.
std::optional<double> valueOf(uint64_t bits, StringRef type) {
  const fltSemantics *format = type == "f16"   ? &APFloat::IEEEhalf()
                               : type == "f32" ? &APFloat::IEEEsingle()
                               : type == "f64" ? &APFloat::IEEEdouble()
                                               : nullptr;
  if (!format)
    return std::nullopt;
  return APFloat(*format, APInt(APFloat::semanticsSizeInBits(*format), bits, false, /*implicitTrunc=*/true))
      .convertToDouble();
}

/// Of one function.
class Registers {
public:
  void read(StringRef text) {
    const Line line = parse(text);
    if (line.operands.size() < 2 || line.opcode.starts_with("st."))
      return;
    const StringRef type = typeOfResult(line.opcode), result = line.operands[0];
    if (uint64_t bits; line.opcode == "mov.b16" && !line.operands[1].getAsInteger(0, bits))
      constants_[result] = bits;
    if (boundOf(line))
      bounded_.insert(result);
    if (line.operands.size() == 3 && line.opcode.starts_with("max.") && !line.opcode.contains("NaN"))
      for (unsigned k : {1, 2})
        if (std::optional<double> bound = constant(line.operands[k], type); bound && *bound == 0)
          positive_.insert(line.operands[3 - k]);
    if (type == "f16" || type == "bf16" || type == "f32" || type == "f64")
      for (StringRef each : line.operands)
        if (bitsOfRegister(each)) { // of a vector load every one, of others the first
          floating_.insert(each);
          if (!line.opcode.starts_with("ld."))
            break;
        }
    if (bitsOfRegister(result) != 32)
      return;
    const unsigned loaded = line.opcode.starts_with("ld.") ? bitsOfType(lastType(line.opcode)) : 32;
    const bool widens = line.opcode.starts_with("cvt.") && bitsOfType(lastType(line.opcode)) < 32;
    if (loaded < 32 || widens)
      extended_.insert(result);
    // What is handed on as it is, or with other signs.
    static constexpr StringLiteral kCopies[] = {"mov.", "selp.", "neg.", "abs."};
    if (any_of(kCopies, [&](StringRef opcode) { return line.opcode.starts_with(opcode); }) &&
        any_of(ArrayRef(line.operands).drop_front(), [&](StringRef from) { return extended_.contains(from); }))
      extended_.insert(result);
  }

  bool isFloating(StringRef name) const { return floating_.contains(name); }
  bool isExtended(StringRef name) const { return extended_.contains(name); }
  /// min(x, what is 1 or more), of which max(.., 0) is taken: the bound's operand. A register may have other values,
  /// too, where branches meet.
  std::optional<unsigned> clampOf(const Line &line) const {
    return !line.operands.empty() && bounded_.contains(line.operands[0]) && positive_.contains(line.operands[0])
               ? boundOf(line)
               : std::nullopt;
  }

  /// What an operand is, in a type of floating-point numbers.
  std::optional<double> constant(StringRef operand, StringRef type) const {
    uint64_t bits;
    if (operand.consume_front("0f") || operand.consume_front("0d"))
      return operand.getAsInteger(16, bits) ? std::nullopt : valueOf(bits, type);
    const auto found = constants_.find(operand);
    return found == constants_.end() ? std::nullopt : valueOf(found->second, type);
  }

private:
  std::optional<unsigned> boundOf(const Line &line) const {
    if (line.operands.size() == 3 && line.opcode.starts_with("min.") && !line.opcode.contains("NaN") &&
        !line.opcode.contains("xorsign"))
      for (unsigned k : {2, 1})
        if (std::optional<double> bound = constant(line.operands[k], typeOfResult(line.opcode)); bound && *bound >= 1)
          return k;
    return std::nullopt;
  }

  StringSet<> floating_, extended_, bounded_, positive_;
  StringMap<uint64_t> constants_; // of 16 bits: other constants stand in the instructions
};

/// "@%p1 ", or nothing.
std::string guardOf(const Line &line) {
  return line.predicate.empty() ? "" : line.predicate.str() + " ";
}

/// neg.s16 d, a; abs.s16, abs.s32 and abs.s64 d, a
std::string otherSign(const Line &line) {
  const std::string to = line.operands[0].str(), of = line.operands[1].str(), guard = guardOf(line),
                    width = lastType(line.opcode).substr(1).str();
  std::string text = "\t{ .reg .b" + width + " %negative; ";
  if (width == "16") // of 32 bits, and 16 of them
    text +=
        ".reg .b32 %wide; cvt.u32.u16 \t%wide, " + of + "; neg.s32 \t%wide, %wide; cvt.u16.u32 \t%negative, %wide; ";
  else
    text += "neg.s" + width + " \t%negative, " + of + "; ";
  if (line.opcode.starts_with("neg."))
    return text + guard + "mov.b16 \t" + to + ", %negative; }";
  return text + guard + "max.s" + width + " \t" + to + ", " + of + ", %negative; }";
}

/// min d, a, b, one of which is a bound: behind it, the bound where the other is NaN.
std::string boundOfNaN(StringRef text, const Line &line, unsigned bound) {
  const std::string type = typeOfResult(line.opcode).str(), to = line.operands[0].str(),
                    of = line.operands[3 - bound].str();
  return text.str() + "\n\t{ .reg .pred %isNan; setp.nan." + type + " \t%isNan, " + of + ", " + of + "; " +
         guardOf(line) + "selp." + (type == "f16" ? "b16" : type) + " \t" + to + ", " + line.operands[bound].str() +
         ", " + to + ", %isNan; }";
}

/// Whether the last operand's bits are read: by a store that is narrower, or a shift of 64 bits.
bool readsBits(const Line &line) {
  if (isStore(line.opcode))
    return line.operands.size() == 2 && bitsOfType(lastType(line.opcode)) < bitsOfRegister(line.operands[1]);
  return line.operands.size() == 3 && (line.opcode.starts_with("shl.") || line.opcode.starts_with("shr.")) &&
         bitsOfType(lastType(line.opcode)) == 64;
}

/// The line, of a copy of its last operand.
std::string ofCopiedBits(StringRef text, const Line &line) {
  const std::string of = line.operands.back().str(), type = ".b" + std::to_string(bitsOfRegister(of));
  std::string copied = text.str();
  copied.replace(copied.rfind(of), of.size(), "%bits");
  return "\t{ .reg " + type + " %bits; mov" + type + " %bits, " + of + ";" + copied + " }";
}

/// mov.b32 {lower, upper}, whole; alone in its line or behind the name that LLVM gives to the other half. Empty where
/// it is something else, or `whole` is not extended.
std::string halvesByShift(StringRef text, const Line &line, const Registers &registers) {
  StringRef alone = text.trim();
  const bool isNamed = alone.consume_front("{ .reg .b16 tmp;");
  if (isNamed ? !alone.split(';').second.trim(" \t}").empty() : !isSingle(text) || line.opcode != "mov.b32")
    return "";
  const size_t brace = text.find('{', text.find("mov.b32"));
  if (!text.contains("mov.b32") || brace == StringRef::npos)
    return "";
  SmallVector<StringRef, 4> parts;
  text.substr(brace + 1).take_until([](char c) { return c == ';'; }).split(parts, ',');
  if (parts.size() != 3 || !parts[1].contains('}'))
    return "";
  const StringRef lower = parts[0].trim(), upper = parts[1].trim(" \t}"), whole = parts[2].trim();
  if (!bitsOfRegister(upper) || !registers.isExtended(whole))
    return "";
  const std::string guard = guardOf(line);
  std::string result;
  if (bitsOfRegister(lower))
    result = "\t" + guard + "cvt.u16.u32 \t" + lower.str() + ", " + whole.str() + ";\n";
  return result + "\t{ .reg .b32 %upper; shr.u32 \t%upper, " + whole.str() + ", 16; " + guard + "cvt.u16.u32 \t" +
         upper.str() + ", %upper; }";
}

/// The line in another way; empty: as it is.
std::string rewritten(StringRef text, const Registers &registers) {
  const Line line = parse(text);
  if (isSingle(text)) {
    if (line.opcode.starts_with("abs.s") || line.opcode == "neg.s16")
      return otherSign(line);
    if (const std::optional<unsigned> bound = registers.clampOf(line))
      return boundOfNaN(text, line, *bound);
    if (readsBits(line) && registers.isFloating(line.operands.back()))
      return ofCopiedBits(text, line);
  }
  return halvesByShift(text, line, registers);
}

/// Whether the text has anything that may be wrong: most kernels have not, and their registers need not be followed.
bool mayBeWrong(StringRef ptx) {
  bool hasMinimum = false, hasMaximum = false, hasHalves = false, hasNarrow = false;
  while (!ptx.empty()) {
    StringRef text;
    std::tie(text, ptx) = ptx.split('\n');
    text = text.ltrim();
    if (text.starts_with("abs.s") || text.starts_with("neg.s16"))
      return true;
    hasMinimum |= text.starts_with("min.f");
    hasMaximum |= text.starts_with("max.f");
    hasHalves |= text.contains("mov.b32") && text.contains('{');
    hasNarrow |= text.starts_with("cvt.u32.") || text.starts_with("cvt.s32.");
    const bool isShift = text.starts_with("shl.b64") || text.starts_with("shr.u64") || text.starts_with("shr.s64");
    if (!isShift && !text.starts_with("st.") && !text.starts_with("ld."))
      continue;
    const Line line = parse(text);
    const unsigned bits = bitsOfType(lastType(line.opcode));
    hasNarrow |= text.starts_with("ld.") && bits < 32;
    if ((isShift && bitsOfRegister(line.operands.back())) ||
        (text.starts_with("st.") && line.operands.size() == 2 && bits < bitsOfRegister(line.operands[1])))
      return true;
  }
  return (hasMinimum && hasMaximum) || (hasHalves && hasNarrow);
}

} // namespace

unsigned writeAroundPtxasErrors(SmallVectorImpl<char> &ptx) {
  const StringRef text(ptx.data(), ptx.size());
  if (!mayBeWrong(text))
    return 0;
  unsigned count = 0;
  std::string result;
  StringRef left = text;
  while (!left.empty()) { // functions begin and end with a brace in a line of its own, and so may what somebody wrote
    size_t end = 0;
    for (size_t from = 0, open = 0;; from = end + 1) {
      end = left.find("\n}", from);
      const StringRef between = left.slice(from, end);
      open += between.count("// begin inline asm") - between.count("// end inline asm");
      if (end == StringRef::npos || open == 0)
        break;
    }
    const StringRef function = left.take_front(end == StringRef::npos ? left.size() : end + 1);
    left = left.drop_front(function.size());
    SmallVector<StringRef, 0> lines;
    function.split(lines, '\n');
    Registers registers;
    for (int round = 0; round < 2; ++round) // a loop's registers are written behind where they are read
      for (StringRef line : lines)
        registers.read(line);
    for (auto [index, line] : enumerate(lines)) {
      const std::string other = rewritten(line, registers);
      count += !other.empty();
      result += other.empty() ? line.str() : other;
      if (index + 1 < lines.size())
        result += '\n';
    }
  }
  if (count)
    ptx.assign(result.begin(), result.end());
  return count;
}

} // namespace tenon::compiler::codegen
