// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initialisers, flattened to one list of scalars in memory order; groups that are short are padded with zeros, so that
// element i of the list is element i of the array. The tail that is not written is left out.
//
//   = 1.5    = {{1, 2}, {3}}    = symbol + 8    = generic(symbol) + 8    = {0xff(symbol), 0xff00(generic(symbol))}
//   .samplerref s = {filter_mode = nearest}: kept as a Name "filter_mode" whose element is the value
#include "ptx/parse/parser_state.h"

#include <algorithm>
#include <bit>

namespace tenon::ptx {
namespace {

Variable::Initializer zero() {
  Variable::Initializer initializer;
  initializer.value.kind = Operand::Kind::Integer;
  return initializer;
}

} // namespace

bool Parser::parseInitializer(Variable &variable) {
  advance();
  variable.hasInitializer = true;
  // strides[i]: scalars in one pair of braces at level i; the outermost is the whole variable, the last one scalar.
  std::vector<uint64_t> strides(1, 1);
  bool open = !variable.dimensions.empty() && !variable.dimensions.front();
  if (isOpaque(variable.type)) {
    strides.insert(strides.begin(), UINT64_MAX); // of fields
  } else {
    if (variable.vectorWidth > 1)
      strides.insert(strides.begin(), variable.vectorWidth);
    for (size_t i = variable.dimensions.size(); i-- > 0;)
      strides.insert(strides.begin(), strides.front() * variable.dimensions[i].value_or(1));
    if (open)
      strides.front() = UINT64_MAX;
  }
  if (strides.size() > 1) {
    if (!parseInitializerGroup(variable, strides, 0))
      return false;
  } else {
    Variable::Initializer initializer;
    if (!parseInitializerValue(initializer))
      return false;
    variable.initializers.push_back(std::move(initializer));
  }
  if (open)
    variable.dimensions.front() = (variable.initializers.size() + strides[1] - 1) / std::max<uint64_t>(1, strides[1]);
  return true;
}

/// `{a, b, c}` or `{{a, b}, {c}}` at brace level `level`. Recurses once per dimension.
bool Parser::parseInitializerGroup(Variable &variable, std::span<const uint64_t> strides, size_t level) {
  if (!at(TokenKind::LeftBrace))
    return fail("P-10", "found " + describe() + ", expected '{' around the values of " + quoteText(variable.name));
  advance();
  ++openBraces_;
  bool innermost = level + 2 == strides.size();
  uint64_t begin = variable.initializers.size();
  while (!at(TokenKind::RightBrace)) {
    uint64_t next = variable.initializers.size() + strides[level + 1];
    if (next - begin > strides[level])
      return fail("P-10", "found one value too many for " + quoteText(variable.name),
                  "there is room for " + std::to_string(strides[level] / std::max<uint64_t>(1, strides[level + 1])) +
                      " in these braces");
    if (innermost) {
      Variable::Initializer initializer;
      if (isOpaque(variable.type) ? !parseInitializerField(initializer) : !parseInitializerValue(initializer))
        return false;
      variable.initializers.push_back(std::move(initializer));
    } else if (!parseInitializerGroup(variable, strides, level + 1)) {
      return false;
    }
    if (!accept(TokenKind::Comma))
      break;
    // Something follows: the group before it must be whole.
    uint64_t missing = next - variable.initializers.size();
    if (missing > paddingLeft_)
      return fail("P-10", "groups of values of " + quoteText(variable.name) + " lack more than 2^20 of them",
                  "write the values, or fill the array in a kernel");
    paddingLeft_ -= missing;
    variable.initializers.resize(next, zero());
  }
  if (!expect(TokenKind::RightBrace, "',' or '}'"))
    return false;
  --openBraces_;
  return true;
}

bool Parser::parseInitializerValue(Variable::Initializer &initializer) {
  Operand &value = initializer.value;
  if (at(TokenKind::Integer) && lexer_.followedBy('(')) {
    uint64_t mask = token_.bits;
    if (mask == 0 || (mask >> (std::countr_zero(mask) & 56)) != 0xff)
      return fail("P-10", "found " + describe() + ", expected a mask of one byte, like 0xff00");
    initializer.mask = mask;
    advance();
    advance();
    if (!parseInitializerSymbol(initializer) || !expect(TokenKind::RightParen, "')'"))
      return false;
  } else if (at(TokenKind::Identifier) && !atWord("WARP_SZ")) {
    if (!parseInitializerSymbol(initializer))
      return false;
  } else if (!parseConstantOperand(value)) {
    return false;
  }
  return true;
}

/// filter_mode = nearest
bool Parser::parseInitializerField(Variable::Initializer &initializer) {
  Operand &field = initializer.value;
  Operand value;
  if (!parseName(field.name, "the name of a field") || !expect(TokenKind::Equal, "'='"))
    return false;
  if (at(TokenKind::Identifier)) {
    value.name = text();
    advance();
  } else if (!parseConstantOperand(value)) {
    return false;
  }
  field.elements = List<Operand>(*arena_, {&value, 1});
  return true;
}

/// symbol [+ offset] or generic(symbol [+ offset]) [+ offset]
bool Parser::parseInitializerSymbol(Variable::Initializer &initializer) {
  Operand &value = initializer.value;
  value.kind = Operand::Kind::Name;
  if (atWord("generic") && lexer_.followedBy('(')) {
    initializer.isGeneric = true;
    advance();
    advance();
    if (!parseName(value.name, "the name of a variable") || !parseOffset(value.offset) ||
        !expect(TokenKind::RightParen, "')'"))
      return false;
    return parseOffset(value.offset);
  }
  return parseName(value.name, "the name of a variable or a function") && parseOffset(value.offset);
}

} // namespace tenon::ptx
