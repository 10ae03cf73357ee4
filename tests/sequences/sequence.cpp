// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sequences/sequence.h"

#include <cstdio>
#include <set>

namespace tenon::sequences {
namespace {

void replaceAll(std::string &text, const std::string &what, const std::string &with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

std::string number(uint64_t bits, const char *prefix, int digits) {
  char text[32];
  snprintf(text, sizeof text, "%s%0*llx", prefix, digits, static_cast<unsigned long long>(bits));
  return text;
}

/// As PTX writes a constant of that type.
std::string constant(uint64_t bits, const std::string &type) {
  if (type == "f32")
    return number(bits & 0xffffffff, "0f", 8);
  if (type == "f64")
    return number(bits, "0d", 16);
  switch (bitsOf(type)) {
  case 16:
    return type[0] == 's' ? std::to_string(static_cast<int16_t>(bits)) : std::to_string(bits & 0xffff);
  case 32:
    return type[0] == 's' ? std::to_string(static_cast<int32_t>(bits)) : number(bits & 0xffffffff, "0x", 1);
  default:
    return number(bits, "0x", 1);
  }
}

std::string nameOf(uint32_t reg) {
  return "%v" + std::to_string(reg);
}

/// Writes the statements of one kernel.
class Writer {
public:
  explicit Writer(const Sequence &sequence) : sequence_(sequence) {}

  void step(const Step &step) {
    switch (step.kind) {
    case Step::Kind::Plain:
      return plain(step, "");
    case Step::Kind::Guarded: {
      const std::string result = nameOf(step.results[0]), guard = read(step.guard);
      move(result, step.otherwise);
      return plain(step, "@" + std::string(step.isNegated ? "!" : "") + guard + " ");
    }
    case Step::Kind::Loop:
      return loop(step);
    case Step::Kind::Branch:
      return branch(step);
    }
  }

  void store(const Store &store, size_t slot) {
    const std::string &type = sequence_.registers[store.reg].type;
    const std::string name = nameOf(store.reg), to = "[%out+" + std::to_string(slot * kThreads * 8) + "], ";
    const unsigned bits = bitsOf(type);
    if (bits == 1) {
      line("selp.u32 %t0, 1, 0, " + name + ";");
      return line("st.global.u32 " + to + "%t0;");
    }
    const std::string half = bits == 64 ? "%t" : "%h", width = bits == 64 ? "32" : "16";
    if (bits == 16 || store.part == Part::Whole)
      return line("st.global.b" + std::to_string(bits) + " " + to + name + ";");
    switch (store.part) {
    case Part::Whole:
      break;
    case Part::Low:
      line("cvt.u" + width + ".u" + std::to_string(bits) + " " + half + "0, " + name + ";");
      return line("st.global.b" + width + " " + to + half + "0;");
    case Part::High:
      line("mov.b" + std::to_string(bits) + " {" + half + "0, " + half + "1}, " + name + ";");
      return line("st.global.b" + width + " " + to + half + "1;");
    case Part::ShiftedHigh: {
      const std::string whole = bits == 64 ? "%l0" : "%t0";
      line("shr.u" + std::to_string(bits) + " " + whole + ", " + name + ", " + width + ";");
      return line("st.global.b" + std::to_string(bits) + " " + to + whole + ";");
    }
    case Part::Byte: {
      const std::string whole = bits == 64 ? "%l0" : "%t0";
      line("bfe.u" + std::to_string(bits) + " " + whole + ", " + name + ", 8, 8;");
      return line("st.global.b" + std::to_string(bits) + " " + to + whole + ";");
    }
    }
  }

  std::string declarations, statements;

private:
  void line(const std::string &text) { statements += "  " + text + "\n"; }

  /// A register that holds the constant.
  std::string moved(uint64_t bits, const std::string &type) {
    const std::string name = "%c" + std::to_string(constants_++), width = std::to_string(bitsOf(type));
    if (bitsOf(type) == 1) {
      declarations += "  .reg .pred " + name + ";\n";
      line("setp.ne.u32 " + name + ", " + std::to_string(bits & 1) + ", 0;");
      return name;
    }
    declarations += "  .reg .b" + width + " " + name + ";\n";
    line("mov.b" + width + " " + name + ", " + constant(bits, "b" + width) + ";");
    return name;
  }

  std::string read(const Source &source) {
    switch (source.kind) {
    case Source::Kind::Register:
      return nameOf(source.reg);
    case Source::Kind::Moved:
      return moved(source.bits, source.type);
    case Source::Kind::Immediate:
      return constant(source.bits, source.type);
    }
    return "";
  }

  void move(const std::string &to, const Source &from) {
    const unsigned bits = bitsOf(from.type);
    line("mov." + (bits == 1 ? std::string("pred") : "b" + std::to_string(bits)) + " " + to + ", " + read(from) + ";");
  }

  void plain(const Step &step, const std::string &guard) {
    std::string text = step.form->body;
    for (size_t k = step.sources.size(); k-- > 0;)
      replaceAll(text, "%a" + std::to_string(k), read(step.sources[k]));
    for (size_t k = step.results.size(); k-- > 0;)
      replaceAll(text, "%d" + std::to_string(k), nameOf(step.results[k]));
    uint64_t numbers = step.numbers;
    for (size_t at; (at = text.find("%any")) != std::string::npos; numbers = numbers >> 8 | numbers << 56)
      text.replace(at, 5, std::to_string(text[at + 4] == '8' ? numbers & 255 : numbers & 31));
    line(guard + text);
  }

  void loop(const Step &step) {
    const std::string label = "L" + std::to_string(labels_++), result = nameOf(step.results[0]);
    const std::string counter = "%n" + label;
    declarations += "  .reg .b32 " + counter + ";\n";
    move(result, step.otherwise);
    if (step.count.isConstant()) {
      line("mov.b32 " + counter + ", " + std::to_string(step.count.bits % 5 + 1) + ";");
    } else {
      line("and.b32 " + counter + ", " + nameOf(step.count.reg) + ", 3;");
      line("add.u32 " + counter + ", " + counter + ", 1;");
    }
    statements += label + ":\n";
    for (const Step &inner : step.body)
      this->step(inner);
    move(result, step.carried);
    line("sub.u32 " + counter + ", " + counter + ", 1;");
    line("setp.ne.u32 %q7, " + counter + ", 0;");
    line("@%q7 bra " + label + ";");
  }

  void branch(const Step &step) {
    const std::string label = "L" + std::to_string(labels_++), result = nameOf(step.results[0]);
    line("@" + std::string(step.isNegated ? "" : "!") + read(step.guard) + " bra " + label + "else;");
    for (const Step &inner : step.body)
      this->step(inner);
    move(result, step.carried);
    line("bra " + label + "end;");
    statements += label + "else:\n";
    for (const Step &inner : step.other)
      this->step(inner);
    move(result, step.otherwise);
    statements += label + "end:\n";
  }

  const Sequence &sequence_;
  unsigned constants_ = 0, labels_ = 0;
};

} // namespace

unsigned bitsOf(const std::string &type) {
  if (type == "pred")
    return 1;
  const unsigned bytes = golden::resultBytes(type);
  return bytes == 1 ? 16 : 8 * bytes;
}

bool takesImmediate(const Form &form, size_t operand) {
  static const std::set<std::string> scalars = {"s16", "u16", "b16", "s32", "u32", "b32",
                                                "f32", "s64", "u64", "b64", "f64"};
  if (!scalars.count(form.operands[operand]))
    return false;
  // Video instructions on parts (vadd2, vset4) take registers only.
  const std::string opcode = form.name.substr(0, form.name.find_first_of(". "));
  if (opcode[0] == 'v' && (opcode.back() == '2' || opcode.back() == '4'))
    return false;
  // Every place where it stands: an operand of its own, and no part, minus or element of a vector.
  const std::string name = "%a" + std::to_string(operand);
  if (form.body.find('{') != std::string::npos)
    return false;
  for (size_t at = 0; (at = form.body.find(name, at)) != std::string::npos; at += name.size()) {
    const char before = form.body[at - 1], after = form.body[at + name.size()];
    if (before != ' ' || (after != ',' && after != ';'))
      return false;
  }
  return true;
}

std::string headOfModule() {
  return ".version 8.4\n.target sm_90\n.address_size 64\n";
}

std::string entryOf(const Sequence &sequence, const std::string &name) {
  Writer writer(sequence);
  for (const Step &step : sequence.steps)
    writer.step(step);
  for (size_t slot = 0; slot < sequence.stores.size(); ++slot)
    writer.store(sequence.stores[slot], slot);
  std::string text = ".visible .entry " + name + R"((.param .u64 inputs, .param .u64 outputs, .param .u64 scratch)
{
  .shared .align 128 .b8 memory[8192];
  .reg .b64 %in, %out, %sg, %p_global, %l<8>;
  .reg .b32 %ss, %p_shared, %lane, %thread, %index, %t<16>;
  .reg .b16 %h<8>;
  .reg .pred %q<8>;
)" + writer.declarations;
  for (size_t k = 0; k < sequence.registers.size(); ++k) {
    const unsigned bits = bitsOf(sequence.registers[k].type);
    text += "  .reg ." + (bits == 1 ? std::string("pred") : "b" + std::to_string(bits)) + " " +
            nameOf(static_cast<uint32_t>(k)) + ";\n";
  }
  text += R"(  mov.u32 %lane, %laneid;
  mov.u32 %thread, %tid.x;
  mov.b32 %index, %thread;
  ld.param.u64 %out, [outputs];
  mul.wide.u32 %l0, %thread, 8;
  add.u64 %out, %out, %l0;
  ld.param.u64 %sg, [scratch];
  mul.wide.u32 %l0, %thread, 64;
  add.u64 %sg, %sg, %l0;
  mov.u32 %ss, memory;
  shl.b32 %t0, %thread, 6;
  add.u32 %ss, %ss, %t0;
  mov.b64 %p_global, %sg;
  mov.b32 %p_shared, %ss;
  ld.param.u64 %in, [inputs];
  mul.wide.u32 %l0, %thread, )" +
          std::to_string(8 * sequence.inputs.size()) + R"(;
  add.u64 %in, %in, %l0;
)";
  for (size_t k = 0; k < sequence.inputs.size(); ++k)
    text += "  ld.global.b" + std::to_string(bitsOf(sequence.inputs[k])) + " " + nameOf(static_cast<uint32_t>(k)) +
            ", [%in+" + std::to_string(8 * k) + "];\n";
  return text + writer.statements + "  ret;\n}\n";
}

} // namespace tenon::sequences
