// Initialisers, flattened to one list of scalars in memory order; groups that are short are padded with zeros, so that
// element i of the list is element i of the array. The tail that is not written is left out.
//
//   = 1.5    = {{1, 2}, {3}}    = symbol + 8    = generic(symbol) + 8    = {0xff(symbol), 0xff00(generic(symbol))}
//   .samplerref s = {filter_mode = nearest}: kept as a Name "filter_mode" whose element is the value
#include "ptx/parser_state.h"

#include <algorithm>
#include <bit>

namespace tenon::ptx {
namespace {

/// Zeros written to fill short groups of one variable; more is taken for a mistake.
constexpr uint64_t kMaximumPadding = 1u << 24;

bool isOpaque(ScalarType type) {
  return type == ScalarType::TexRef || type == ScalarType::SamplerRef || type == ScalarType::SurfRef;
}

Variable::Initializer zero() {
  Variable::Initializer initializer;
  initializer.value.kind = Operand::Kind::Integer;
  return initializer;
}

} // namespace

bool Parser::parseInitializer(Variable &variable) {
  advance();
  variable.hasInitializer = true;
  // strides[i]: scalars of one group at brace level i; the outermost is the whole variable.
  std::vector<uint64_t> strides(1, 1);
  if (variable.vectorWidth > 1)
    strides.insert(strides.begin(), variable.vectorWidth);
  for (size_t i = variable.dimensions.size(); i-- > 0;)
    strides.insert(strides.begin(), strides.front() * variable.dimensions[i].value_or(0));
  bool open = !variable.dimensions.empty() && !variable.dimensions.front();
  if (open)
    strides.front() = UINT64_MAX;
  if (!at(TokenKind::LeftBrace)) {
    Variable::Initializer initializer;
    if (strides.size() > 1)
      return fail("P-10", "found " + describe() + ", expected '{' before the values of " + quoted(variable.name));
    return parseInitializerValue(initializer) && appendInitializer(variable, std::move(initializer), 1);
  }
  if (!parseInitializerGroup(variable, strides, 0))
    return false;
  if (open)
    variable.dimensions.front() = (variable.initializers.size() + strides[1] - 1) / std::max<uint64_t>(1, strides[1]);
  return true;
}

/// `{a, b, {c, d}}` at brace level `level`. Recurses at most once per dimension.
bool Parser::parseInitializerGroup(Variable &variable, std::span<const uint64_t> strides, size_t level) {
  bool opaque = isOpaque(variable.type);
  if (level + 1 >= strides.size() && !opaque)
    return fail("P-10", "found '{' inside the braces of " + quoted(variable.name) + ", which has fewer dimensions");
  advance();
  ++openBraces_;
  uint64_t begin = variable.initializers.size();
  uint64_t room = strides[level] == UINT64_MAX ? UINT64_MAX : begin + strides[level];
  if (opaque)
    room = UINT64_MAX;
  while (!at(TokenKind::RightBrace)) {
    if (at(TokenKind::LeftBrace)) {
      uint64_t inner = level + 1 < strides.size() ? strides[level + 1] : 0;
      uint64_t next = variable.initializers.size() + inner;
      if (next > room)
        return fail("P-10", "more values for " + quoted(variable.name) + " than it has elements");
      if (!parseInitializerGroup(variable, strides, level + 1))
        return false;
      // Another group follows: this one must be whole.
      if (at(TokenKind::Comma) && next > variable.initializers.size()) {
        if (next - variable.initializers.size() > kMaximumPadding)
          return fail("P-10", "a group of values of " + quoted(variable.name) + " lacks more than 2^24 of them");
        variable.initializers.resize(next, zero());
      }
    } else {
      Variable::Initializer initializer;
      if (!parseInitializerValue(initializer) || !appendInitializer(variable, std::move(initializer), room))
        return false;
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!expect(TokenKind::RightBrace, "',' or '}'"))
    return false;
  --openBraces_;
  return true;
}

bool Parser::appendInitializer(Variable &variable, Variable::Initializer &&initializer, uint64_t capacity) {
  if (variable.initializers.size() >= capacity)
    return fail("P-10", "more values for " + quoted(variable.name) + " than it has elements",
                "it has " + std::to_string(capacity));
  variable.initializers.push_back(std::move(initializer));
  return true;
}

bool Parser::parseInitializerValue(Variable::Initializer &initializer) {
  Token begin = token_;
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
    if (at(TokenKind::Equal) && !initializer.isGeneric) {
      advance();
      value.elements.resize(1);
      if (at(TokenKind::Identifier)) {
        value.elements[0].name = text();
        value.elements[0].range = {token_.begin, token_.end};
        advance();
      } else if (!parseConstantOperand(value.elements[0])) {
        return false;
      }
    }
  } else if (!parseConstantOperand(value)) {
    return false;
  }
  value.range = rangeFrom(begin, previousEnd_);
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
