// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sequences/drawing.h"

#include "tests/golden/values.h"

#include <set>

namespace tenon::sequences {
namespace {

/// Either zero, in an element of a floating-point type. With it a smaller-of-1 becomes a saturation in ptxas.
bool isZero(const std::string &type, uint64_t bits) {
  if (type == "f64")
    return bits << 1 == 0;
  if (type == "f32")
    return (bits & 0x7fffffff) == 0;
  return isFloatingType(type) && (bits & 0x7fff) == 0;
}

} // namespace

bool isPrinted(const FormEntry &entry) {
  static const std::set<std::string> common = {"abs", "add", "and", "cvt",  "fma", "mad", "max", "min", "mul",
                                               "neg", "not", "or",  "selp", "shl", "shr", "sub", "xor"};
  const std::string instruction = entry.form->instruction();
  return common.count(opcodeOf(*entry.form)) && instruction.find(".sat") == std::string::npos &&
         instruction.find(".xorsign") == std::string::npos;
}

bool isFloatingType(const std::string &type) {
  return type[0] == 'f' || type.rfind("bf", 0) == 0;
}

void Drawing::input(const std::string &type) {
  sequence_.inputs.push_back(type);
  define(type);
}

uint32_t Drawing::define(const std::string &type, const FormEntry *entry) {
  Register made{type};
  if (entry) {
    made.isLoose = entry->givesLoose && type != "pred";
    made.unread = entry->isUnread ? entry->form : nullptr;
    made.isExtended = entry->isExtended;
  }
  sequence_.registers.push_back(made);
  visible_.push_back(static_cast<uint32_t>(sequence_.registers.size() - 1));
  return visible_.back();
}

Source Drawing::constant(const std::string &type, bool mayBeImmediate) {
  Source source;
  source.kind = mayBeImmediate && chance(0.7) ? Source::Kind::Immediate : Source::Kind::Moved;
  source.type = type;
  source.bits = golden::drawValue(type, random_);
  return source;
}

Source Drawing::reg(const std::string &type, bool takesLoose, const FormEntry *reader) {
  std::vector<uint32_t> same, any;
  for (uint32_t candidate : visible_) {
    const Register &what = sequence_.registers[candidate];
    if (what.unread || bitsOf(what.type) != bitsOf(type) || (what.isLoose && !(takesLoose && what.type == type)))
      continue;
    if (reader && ((what.isExtended && reader->form->body.find("mov.b") != std::string::npos) ||
                   (reader->readsBits && isFloatingType(what.type))))
      continue;
    any.push_back(candidate);
    if (what.type == type)
      same.push_back(candidate);
  }
  const std::vector<uint32_t> &from = !same.empty() && chance(0.7) ? same : any;
  if (from.empty())
    return constant(type, false);
  Source source;
  source.type = type;
  source.reg = from[from.size() - 1 - (chance(0.6) ? below(std::min<size_t>(3, from.size())) : below(from.size()))];
  return source;
}

Source Drawing::source(const FormEntry &entry, size_t operand) {
  const std::string &type = entry.form->operands[operand];
  if (entry.form->values.rfind("range:", 0) == 0) { // right within these bounds only
    double low = 0, high = 1;
    sscanf(entry.form->values.c_str(), "range:%lf:%lf", &low, &high);
    Source source = constant(type, takesImmediate(*entry.form, operand));
    source.bits = golden::encodeNumber(type, low + (high - low) * random_.uniform());
    return source;
  }
  const std::string instruction = entry.form->instruction();
  auto is = [&](const char *opcode) { return instruction.rfind(opcode, 0) == 0; };
  if (chance(constants_) && !is("add.s16x2") && !is("add.u16x2")) {
    Source source = constant(type, takesImmediate(*entry.form, operand));
    if (operand > 0 && type == "u32") { // a place, a length or a distance; ptxas refuses some and folds others wrong
      if (is("bfe") || is("bfi"))
        source.bits &= 15;
      if (is("shl.b16") || (is("shr.") && bitsOf(entry.form->operands[0]) == 16))
        source.bits &= 0xffff;
    }
    if (is("max") || is("setp"))
      while (isZero(type, source.bits))
        source.bits = golden::drawValue(type, random_);
    return source;
  }
  return reg(type, entry.takesLoose, &entry);
}

Step Drawing::stepOf(const FormEntry &entry) {
  Step step;
  step.form = entry.form;
  step.numbers = random_.next();
  for (size_t k = 0; k < entry.form->operands.size(); ++k)
    step.sources.push_back(source(entry, k));
  return step;
}

void Drawing::defineResults(Step &step, const FormEntry &entry) {
  for (const std::string &type : entry.form->results)
    step.results.push_back(define(type, &entry));
}

} // namespace tenon::sequences
