// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/parse/simple/simple_declaration.h"

#include "ptx/directive.h"
#include "ptx/words/characters.h"

#include <bit>

namespace tenon::ptx {
namespace {

const char *skipBlanks(const char *p) {
  while (*p == ' ' || *p == '\t')
    ++p;
  return p;
}

/// The word behind the dot at `p`, or an empty one.
std::string_view dottedWord(const char *p, const char *end) {
  return *p == '.' ? std::string_view(p + 1, size_t(wordEnd(p + 1, end) - p - 1)) : std::string_view();
}

const char *behind(std::string_view word) {
  return skipBlanks(word.data() + word.size());
}

/// A decimal number of at most 9 digits without a leading zero; it must end there.
const char *readNumber(const char *p, uint32_t &value) {
  const char *begin = p;
  while (is(*p, kDigit) && p - begin < 10)
    value = value * 10 + static_cast<uint32_t>(*p++ - '0');
  const bool plain = p != begin && p - begin < 10 && (p - begin == 1 || *begin != '0') && !is(*p, kWord) && *p != '.';
  return plain ? p : nullptr;
}

/// [.space] [.align N], behind `.ptr`.
const char *readPointer(const char *p, const char *end, Variable &variable) {
  variable.hasPtr = true;
  std::string_view word = dottedWord(p, end);
  if (word.empty())
    return p;
  const std::optional<Directive> directive = parseDirective(word);
  if (!directive)
    return nullptr;
  if (const std::optional<StateSpace> space = stateSpace(*directive)) {
    variable.ptrSpace = *space;
    p = behind(word);
    word = dottedWord(p, end);
  }
  if (word != "align")
    return p;
  p = readNumber(behind(word), variable.ptrAlignment);
  const bool plain = p && std::has_single_bit(variable.ptrAlignment) && variable.ptrAlignment <= 1u << 30;
  return plain ? skipBlanks(p) : nullptr;
}

} // namespace

void TextPlace::skipMore(const char *end) {
  for (;;) {
    while (*text == ' ' || *text == '\t' || *text == '\r')
      ++text;
    if (*text == '/' && text[1] == '/')
      text = lineCommentEnd(text, end);
    if (*text != '\n')
      return;
    ++line;
    lineStart = ++text;
  }
}

const char *readSimpleVariable(const TextPlace &place, const char *end, Variable &variable) {
  constexpr uint32_t kMaximumRegisters = 1u << 24;
  std::string_view word = dottedWord(place.text, end);
  if (word == "reg")
    variable.space = StateSpace::Reg;
  else if (word == "param")
    variable.space = StateSpace::Param;
  else
    return nullptr;
  word = dottedWord(behind(word), end);
  variable.type = parseScalarType(word);
  if (variable.type == ScalarType::None)
    return nullptr;
  const char *p = behind(word);
  if (word = dottedWord(p, end); word == "ptr" && !(p = readPointer(behind(word), end, variable)))
    return nullptr;
  if (!is(*p, kWordStart) || (*p == '%' && !is(p[1], kWord)))
    return nullptr;
  const char *nameEnd = wordEnd(p + 1, end);
  variable.name = {p, size_t(nameEnd - p)};
  if (isNoName(variable.name))
    return nullptr;
  variable.line = place.line;
  variable.column = place.columnOf(p);
  if (*nameEnd != '<')
    return nameEnd;
  p = readNumber(nameEnd + 1, variable.registerCount);
  const bool plain = p && *p == '>' && variable.space == StateSpace::Reg && variable.registerCount != 0 &&
                     variable.registerCount <= kMaximumRegisters;
  return plain ? p + 1 : nullptr;
}

const char *readSimpleMark(const char *p, SourceMark &mark) {
  if (std::memcmp(p, ".loc", 4) != 0)
    return nullptr;
  p += 4;
  for (uint32_t *number : {&mark.file, &mark.line, &mark.column})
    if ((*p != ' ' && *p != '\t') || !(p = readNumber(skipBlanks(p), *number)))
      return nullptr;
  return p;
}

} // namespace tenon::ptx
