// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations of variables and parameters, without their initialisers (parse_initializer.cpp).
//
//   .visible .global .align 8 .v2 .f32 table[4][2] = {...}, next;
//   .reg .b32 %r<12>, %t;
//   .param .u64 .ptr .global .align 4 p            (a kernel's; no ';', the list's ',' or ')' follows)
//
// One declaration may name several variables; each becomes a Variable of its own with the range of the whole.
#include "ptx/parse/parser_state.h"

#include <algorithm>

namespace tenon::ptx {

bool Parser::parseVariables(std::vector<Variable> &out, const Linkage &linkage, Place place) {
  Variable prefix;
  prefix.isExtern = linkage.isExtern;
  prefix.isVisible = linkage.isVisible;
  prefix.isWeak = linkage.isWeak;
  prefix.isCommon = linkage.isCommon;
  if (!parseVariablePrefix(prefix))
    return false;
  if (place == Place::Parameter && prefix.space != StateSpace::Param && prefix.space != StateSpace::Reg)
    return failAt(linkage.begin, "P-7", "a parameter is neither .param nor .reg", "write '.param' before its type");
  size_t first = out.size();
  for (;;) {
    Variable variable = prefix;
    if (!parseDeclarator(variable, place))
      return false;
    out.push_back(std::move(variable));
    if (place == Place::Parameter || !accept(TokenKind::Comma))
      break;
  }
  if (place != Place::Parameter && !expectSemicolon())
    return false;
  for (size_t i = first; i < out.size(); ++i)
    out[i].range = rangeFrom(linkage.begin, previousEnd_);
  return true;
}

/// State space, alignment, vector width, type and attributes, in any order.
bool Parser::parseVariablePrefix(Variable &variable) {
  bool hasSpace = false;
  for (; at(TokenKind::Dotted);) {
    std::string_view word = text();
    ScalarType type = parseScalarType(word);
    std::optional<Directive> directive = parseDirective(word);
    if (type != ScalarType::None) {
      if (variable.type != ScalarType::None)
        return fail("P-7", "found a second type, " + describe(), "write one type");
      variable.type = type;
      advance();
    } else if (word == "v2" || word == "v4" || word == "v8") {
      variable.vectorWidth = static_cast<uint32_t>(word[1] - '0');
      advance();
    } else if (directive == Directive::Align) {
      if (!parseAlignment(variable.alignment))
        return false;
    } else if (directive == Directive::Ptr) {
      if (!parsePtr(variable))
        return false;
    } else if (directive == Directive::Attribute) {
      if (!parseAttribute(&variable))
        return false;
    } else if (directive && stateSpace(*directive)) {
      if (hasSpace)
        return fail("P-7", "found a second state space, " + describe(), "write one state space");
      hasSpace = true;
      variable.space = *stateSpace(*directive);
      advance();
    } else {
      return fail("P-7", "found " + describe() + ", expected a type",
                  "types are .pred, .b8 to .b128, .u8 to .u64, "
                  ".s8 to .s64, .f16 to .f64, .bf16, .texref, .samplerref, .surfref");
    }
  }
  if (!hasSpace)
    return fail("P-7", "found " + describe() + " without a state space before it",
                "write .reg, .param, .shared, .local, .global or .const");
  if (variable.type == ScalarType::None)
    return fail("P-7", "found " + describe() + " without a type before it", "write a type, as in '.b32'");
  return true;
}

/// .ptr [.space] [.align N], of a kernel parameter.
bool Parser::parsePtr(Variable &variable) {
  advance();
  variable.hasPtr = true;
  if (!at(TokenKind::Dotted))
    return true;
  std::optional<Directive> directive = parseDirective(text());
  std::optional<StateSpace> space = directive ? stateSpace(*directive) : std::nullopt;
  if (space) {
    variable.ptrSpace = *space;
    advance();
  }
  return !atDirective(Directive::Align) || parseAlignment(variable.ptrAlignment);
}

bool Parser::parseAlignment(uint32_t &alignment) {
  advance();
  Token number = token_;
  if (!parseCount(alignment, 1, 1u << 30, "an alignment"))
    return false;
  if ((alignment & (alignment - 1)) != 0)
    return failAt(number, "P-8", "an alignment of " + std::to_string(alignment) + " is no power of two",
                  "write .align 1, 2, 4, 8, 16, ...");
  return true;
}

bool Parser::parseDeclarator(Variable &variable, Place place) {
  constexpr uint64_t kMaximumRegisters = 1u << 24;
  variable.line = token_.line;
  variable.column = token_.column;
  variable.range = {token_.begin, token_.end};
  if (place == Place::Parameter && atWord("_") && mayBeUnnamed_) {
    variable.name = text();
    advance();
  } else if (!parseName(variable.name,
                        place == Place::Parameter ? "the name of a parameter" : "the name of a variable")) {
    return false;
  }
  if (at(TokenKind::Less)) {
    if (variable.space != StateSpace::Reg)
      return fail("P-7", "found '<' behind " + quoteText(variable.name) + ", which is no register",
                  "write an array as name[8]; only .reg counts with <8>");
    advance();
    // The `>` closes the count, so a comparison inside it would need parentheses.
    Token number = token_;
    Constant count;
    if (!parseSum(count) || !countWithin(number, count, 1, kMaximumRegisters, "the number of registers") ||
        !expect(TokenKind::Greater, "'>'"))
      return false;
    variable.registerCount = static_cast<uint32_t>(count.bits);
  }
  if (at(TokenKind::LeftBracket) && !parseDimensions(variable))
    return false;
  if (!at(TokenKind::Equal))
    return true;
  if (variable.isExtern || (variable.space != StateSpace::Global && variable.space != StateSpace::Const))
    return fail("P-10",
                "found an initialiser of " + quoteText(variable.name) + ", which is " +
                    (variable.isExtern ? "external" : "neither .global nor .const"),
                "remove it; store the value in a kernel");
  return parseInitializer(variable);
}

/// [4][2] or, as the first dimension, [].
bool Parser::parseDimensions(Variable &variable) {
  Token begin = token_;
  variable.isArray = true;
  while (accept(TokenKind::LeftBracket)) {
    if (at(TokenKind::RightBracket)) {
      if (!variable.dimensions.empty())
        return fail("P-8",
                    "dimension " + std::to_string(variable.dimensions.size() + 1) + " of " + quoteText(variable.name) +
                        " has no extent",
                    "only the first dimension may be []");
      variable.dimensions.push_back(std::nullopt);
    } else {
      uint64_t extent;
      if (!parseCount(extent, 0, INT64_MAX, "the extent of an array"))
        return false;
      variable.dimensions.push_back(extent);
    }
    if (!expect(TokenKind::RightBracket, "']'"))
      return false;
    if (variable.dimensions.size() > kMaximumNesting)
      return failAt(begin, "P-9", "an array of more than " + std::to_string(kMaximumNesting) + " dimensions");
  }
  // Open and empty dimensions count 1 here, so that products of the others are sound as well.
  uint64_t total = uint64_t(byteSize(variable.type)) * variable.vectorWidth;
  for (const std::optional<uint64_t> &extent : variable.dimensions)
    if (__builtin_mul_overflow(total, std::max<uint64_t>(1, extent.value_or(1)), &total) || total > INT64_MAX)
      return failAt(begin, "P-8", "the array " + quoteText(variable.name) + " has more than 2^63 - 1 bytes");
  return true;
}

} // namespace tenon::ptx
