// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plain lines that nearly all of a body is, read straight from the text, without a token for each word:
//
//   @%p1 bra $L__BB0_2;          mad.lo.s32 %r1, %r2, %r3, -4;      ld.global.v2.f32 {%f1, %f2}, [%rd8+16];
//
// Whatever is not as plain (an expression, a call, a line break, a mistake) is left to parse_instruction.cpp, which
// reads all of PTX; both make the same of the same text.
//
// Private to ptx/parse/parse_simple.cpp. Its loops run once for every word of a program: they look at 16 characters at
// once (characters.h), split a spelling once (spelling_table.h), and put operands where they will stay. A production
// takes the place where it begins, and gives the one where it ends, or null where it has met something that is not
// plain.
#pragma once

#include "ptx/module.h"
#include "ptx/spelling_table.h"
#include "ptx/words/characters.h"
#include "ptx/words/lexer.h"

#include <array>
#include <new>

namespace tenon::ptx {

class SimpleReader {
public:
  /// `arena` takes operands, `spellingArena` modifiers, for as long as `spellings` is used.
  SimpleReader(const Lexer &lexer, SpellingTable &spellings, Arena &spellingArena, Arena &arena)
      : begin_(lexer.textBegin()), end_(lexer.textEnd()), spellings_(spellings), spellingArena_(spellingArena),
        arena_(arena) {}

  /// So much of the text is left behind `p`, and stands before it, that the bytes around a word can be read.
  bool hasRoom(const char *p) const { return end_ - p >= 16 && p - begin_ >= 8; }
  uint32_t offsetOf(const char *p) const { return static_cast<uint32_t>(p - begin_); }

  /// Opcode and modifiers, or a label with its `:`.
  std::string_view spellingAt(const char *p) const { return {p, size_t(spellingEnd(p, end_) - p)}; }

  /// From its spelling, where there is room, to behind the `;`. Does not touch the predicate.
  [[gnu::always_inline]] const char *readInstruction(std::string_view spelling, Instruction &instruction) {
    const uint32_t number = spellings_.find(spelling);
    if (number == SpellingTable::kNone) [[unlikely]] {
      if (!splitSpelling(spelling, instruction))
        return nullptr;
    } else {
      take(spellings_[number], number, instruction);
    }
    return instruction.facts.control == Control::Call ? nullptr
                                                      : readOperands(spelling.data() + spelling.size(), instruction);
  }

  /// From behind the `@` to where the spelling begins.
  const char *readPredicate(const char *p, Instruction &instruction) {
    instruction.predicateNegated = *p == '!';
    p += instruction.predicateNegated;
    const char *end = is(*p, kWordStart) ? readWord(p, instruction.predicate, instruction.predicateNumbered) : nullptr;
    if (!end || !isBlank(*end) || (is(*p, kOddName) && isNoName(instruction.predicate)))
      return nullptr;
    end = skipBlanks(end);
    return is(*end, kWordStart) && hasRoom(end) ? end : nullptr;
  }

  /// `name:`, where nothing follows that makes more of it: a table, or a comment before one.
  const char *readLabel(std::string_view spelling) {
    const char *begin = spelling.data(), *end = begin + spelling.size();
    const char following = *skipClass(end, kBlank);
    if (wordEnd(begin + 1, end_) != end - 1 || *begin == '%' || following == '.' || following == '/' ||
        following == ':' || isNoName({begin, size_t(end - 1 - begin)}))
      return nullptr;
    return end;
  }

private:
  static constexpr size_t kMost = 12; // operands; elements of all vectors and addresses

  static bool isBlank(char c) { return (c == ' ') | (c == '\t'); }
  static const char *skipBlanks(const char *p) {
    while (isBlank(*p))
      ++p;
    return p;
  }

  /// A name without its dotted part.
  [[gnu::always_inline]] const char *readWord(const char *p, std::string_view &word, NumberedName &numbered) {
    size_t digits = 0;
    const char *end = wordEnd(p, end_, digits);
    const size_t size = size_t(end - p);
    word = {p, size};
    if ((digits - 1 < 8) & (size - digits - 2 < 3)) [[likely]]
      numbered = {.stemSize = static_cast<uint32_t>(size - digits), .number = numberBefore(end, digits)};
    else if (size == 1 && *p == '%')
      return nullptr;
    return end;
  }

  void take(const Spelling &spelling, uint32_t number, Instruction &instruction) {
    instruction.opcode = spelling.opcode;
    instruction.modifiers = spelling.modifiers;
    instruction.facts = spelling.facts;
    instruction.spelling = number;
  }

  /// A spelling that is met for the first time, or one too many.
  bool splitSpelling(std::string_view text, Instruction &instruction);

  [[gnu::always_inline]] const char *readOperands(const char *p, Instruction &instruction) {
    Operand *const operands = reinterpret_cast<Operand *>(arena_.room(2 * kMost * sizeof(Operand)));
    Operand *const elements = operands + kMost, *element = elements;
    size_t count = 0;
    p = skipBlanks(p);
    if (*p != ';')
      for (;;) {
        if (count == kMost)
          return nullptr;
        Operand &operand = *new (operands + count++) Operand;
        if (!(p = readOperand(p, operand, element, elements + kMost)))
          return nullptr;
        if (*p != ',' && *p != ';') [[unlikely]]
          p = skipBlanks(p);
        if (*p == ';')
          break;
        if (*p != ',')
          return nullptr;
        p += p[1] == ' ' ? 2 : 1;
      }
    instruction.operands = List<Operand>(operands, count);
    takeOperands(operands, count, elements, size_t(element - elements));
    return p + 1;
  }

  /// Behind the operands come the elements of those that have some.
  void takeOperands(Operand *operands, size_t count, Operand *elements, size_t elementCount) {
    arena_.take((count + elementCount) * sizeof(Operand));
    if (elementCount == 0)
      return;
    for (size_t i = 0; i < elementCount; ++i)
      operands[count + i] = elements[i];
    for (size_t i = 0; i < count; ++i)
      if (!operands[i].elements.empty())
        operands[i].elements =
            List<Operand>(operands[i].elements.data() - (kMost - count), operands[i].elements.size());
  }

  [[gnu::always_inline]] const char *readOperand(const char *p, Operand &operand, Operand *&element, Operand *end) {
    if (is(*p, kWordStart)) [[likely]]
      return readName(p, operand);
    if (*p == '[')
      return readAddress(p + 1, operand, element, end);
    return readOther(p, operand, element, end);
  }

  /// name, name.x, _
  [[gnu::always_inline]] const char *readName(const char *p, Operand &operand) {
    if (*p == '%' && end_ - p >= 8)
      if (const ShortName name = shortNameAt(p); name.size != 0 && p[name.size] != '.') [[likely]] {
        operand.name = {p, name.size};
        operand.numbered = {.stemSize = name.stemSize, .number = name.number};
        return p + name.size;
      }
    const char *end = readWord(p, operand.name, operand.numbered);
    if (!end || *end == '.' || is(*p, kOddName)) [[unlikely]]
      return end ? readOddName(p, end, operand) : nullptr;
    return end;
  }
  const char *readOddName(const char *p, const char *end, Operand &operand);

  /// name], name+8], name+-8], name-8]
  [[gnu::always_inline]] const char *readAddress(const char *p, Operand &operand, Operand *&element, Operand *end) {
    p = skipBlanks(p);
    if (element == end || !is(*p, kWordStart))
      return nullptr;
    operand.kind = Operand::Kind::Address;
    Operand &base = *new (element) Operand;
    if (!(p = readName(p, base)) || base.kind != Operand::Kind::Name)
      return nullptr;
    if (*p != ']') {
      if ((*p == '+' || *p == '-') && !(p = readInteger(p + (*p == '+'), operand.offset)))
        return nullptr;
      if (p = skipBlanks(p); *p != ']')
        return nullptr;
    }
    if (p[1] == '.')
      return nullptr; // a modifier
    operand.elements = List<Operand>(element++, 1);
    return p + 1;
  }

  /// a, b}
  const char *readVector(const char *p, Operand &operand, Operand *&element, Operand *end);
  /// 12, -4, 0f3F800000, 0d3FF0000000000000, !%p1
  const char *readConstant(const char *p, Operand &operand);
  /// A vector, a constant, and both behind blanks.
  const char *readOther(const char *p, Operand &operand, Operand *&element, Operand *end);
  const char *readInteger(const char *p, int64_t &value);
  const char *readBits(const char *p, Operand &operand, int digits, Operand::Kind kind);

  const char *begin_, *end_;
  SpellingTable &spellings_;
  Arena &spellingArena_, &arena_;
};

} // namespace tenon::ptx
