// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is not met in every line.
#include "ptx/parse/simple/simple_reader.h"

namespace tenon::ptx {

bool SimpleReader::splitSpelling(std::string_view text, Instruction &instruction) {
  constexpr size_t kMostModifiers = 12;
  const char *p = text.data(), *end = p + text.size();
  if (!is(*p, kWordStart) || *p == '%')
    return false;
  p = wordEnd(p + 1, end_);
  Spelling spelling{.text = text, .opcode = {text.data(), size_t(p - text.data())}};
  std::array<std::string_view, kMostModifiers> modifiers;
  size_t count = 0;
  while (*p == '.' && is(p[1], kWord)) {
    if (count == modifiers.size())
      return false;
    const char *begin = p + 1;
    p = dottedEnd(p, end_);
    modifiers[count++] = {begin, size_t(p - begin)};
  }
  if (p != end)
    return false; // `a:b`, `a..b`
  spelling.modifiers = List<std::string_view>(spellingArena_, {modifiers.data(), count});
  spelling.facts = factsOf(spelling.opcode, {modifiers.data(), count});
  take(spelling, spellings_.add(spelling), instruction);
  return true;
}

const char *SimpleReader::readOddName(const char *p, const char *end, Operand &operand) {
  if (operand.name == "WARP_SZ")
    return nullptr;
  if (operand.name == "_") {
    operand.kind = Operand::Kind::Sink;
    operand.name = {};
  } else if (*end == '.' && is(end[1], kWord)) {
    end = dottedEnd(end, end_);
    operand.name = {p, size_t(end - p)};
    operand.numbered = {};
  }
  return *end == '.' ? nullptr : end;
}

const char *SimpleReader::readVector(const char *p, Operand &operand, Operand *&element, Operand *end) {
  operand.kind = Operand::Kind::Vector;
  Operand *first = element;
  for (;; ++p) {
    p = skipBlanks(p);
    if (element == end)
      return nullptr;
    Operand &read = *new (element) Operand;
    if (!(p = is(*p, kWordStart) ? readName(p, read) : readConstant(p, read)))
      return nullptr;
    ++element;
    if (p = skipBlanks(p); *p != ',')
      break;
  }
  operand.elements = List<Operand>(first, size_t(element - first));
  return *p == '}' ? p + 1 : nullptr;
}

const char *SimpleReader::readOther(const char *p, Operand &operand, Operand *&element, Operand *end) {
  if (isBlank(*p)) {
    p = skipBlanks(p);
    return isBlank(*p) ? nullptr : readOperand(p, operand, element, end);
  }
  return *p == '{' ? readVector(p + 1, operand, element, end) : readConstant(p, operand);
}

const char *SimpleReader::readConstant(const char *p, Operand &operand) {
  if (*p == '0' && (p[1] == 'f' || p[1] == 'F'))
    return readBits(p + 2, operand, 8, Operand::Kind::Float32);
  if (*p == '0' && (p[1] == 'd' || p[1] == 'D'))
    return readBits(p + 2, operand, 16, Operand::Kind::Float64);
  if (*p == '!') {
    operand.negated = true;
    return is(p[1], kWordStart) ? readName(p + 1, operand) : nullptr;
  }
  int64_t value = 0;
  operand.kind = Operand::Kind::Integer;
  p = readInteger(p, value);
  operand.bits = static_cast<uint64_t>(value);
  return p;
}

/// A decimal number of at most 18 digits, which fits (a digit behind them is refused like any word character); no
/// leading zero, no suffix, no point.
const char *SimpleReader::readInteger(const char *p, int64_t &value) {
  const bool minus = *p == '-';
  p += minus;
  const char *begin = p;
  while (is(*p, kDigit) && p - begin < 18)
    value = value * 10 + (*p++ - '0');
  const auto digits = p - begin;
  if (minus)
    value = -value;
  const bool plain = digits > 0 && (digits == 1 || *begin != '0') && !is(*p, kWord) && *p != '.';
  return plain ? p : nullptr;
}

const char *SimpleReader::readBits(const char *p, Operand &operand, int digits, Operand::Kind kind) {
  operand.kind = kind;
  for (const char *end = p + digits; p != end; ++p) {
    const char c = *p;
    if (!is(c, kHexDigit))
      return nullptr;
    operand.bits = operand.bits << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return is(*p, kWord) || *p == '.' ? nullptr : p;
}

} // namespace tenon::ptx
