// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant expressions, evaluated as they are read. PTX ISA, "Constant Expressions": 64-bit integers, signed unless a
// literal has a U or does not fit, and doubles; C's operators and precedence; no symbols (those are operands); no
// mixing of integers and floats. WARP_SZ is 32.
#include "ptx/parse/parser_state.h"

#include <bit>

namespace tenon::ptx {
namespace {

/// C's precedence of a binary operator, 1 (||) to 10 (* / %); 0 for other tokens.
unsigned precedence(TokenKind kind) {
  switch (kind) {
  case TokenKind::PipePipe:
    return 1;
  case TokenKind::AmpersandAmpersand:
    return 2;
  case TokenKind::Pipe:
    return 3;
  case TokenKind::Caret:
    return 4;
  case TokenKind::Ampersand:
    return 5;
  case TokenKind::EqualEqual:
  case TokenKind::ExclaimEqual:
    return 6;
  case TokenKind::Less:
  case TokenKind::LessEqual:
  case TokenKind::Greater:
  case TokenKind::GreaterEqual:
    return 7;
  case TokenKind::ShiftLeft:
  case TokenKind::ShiftRight:
    return 8;
  case TokenKind::Plus:
  case TokenKind::Minus:
    return 9;
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
    return 10;
  default:
    return 0;
  }
}

constexpr unsigned kSumPrecedence = 9;
constexpr unsigned kTermPrecedence = 10;

/// Order of two integers: -1, 0, 1.
int compare(const Constant &left, const Constant &right) {
  if (left.isUnsigned || right.isUnsigned)
    return left.bits < right.bits ? -1 : left.bits > right.bits;
  auto a = static_cast<int64_t>(left.bits), b = static_cast<int64_t>(right.bits);
  return a < b ? -1 : a > b;
}

uint64_t shiftRight(const Constant &value, uint64_t count) {
  if (value.isUnsigned)
    return count < 64 ? value.bits >> count : 0;
  return static_cast<uint64_t>(static_cast<int64_t>(value.bits) >> (count < 64 ? count : 63));
}

/// Quotient or remainder; `right` is not zero. INT64_MIN / -1 wraps.
uint64_t divide(const Constant &left, const Constant &right, bool remainder) {
  if (left.isUnsigned || right.isUnsigned)
    return remainder ? left.bits % right.bits : left.bits / right.bits;
  auto a = static_cast<int64_t>(left.bits), b = static_cast<int64_t>(right.bits);
  if (b == -1)
    return remainder ? 0 : 0 - left.bits;
  return static_cast<uint64_t>(remainder ? a % b : a / b);
}

} // namespace

/// a ? b : c, and all below.
bool Parser::parseConditional(Constant &value, unsigned depth) {
  if (depth > kMaximumNesting)
    return fail("P-9", "a constant expression of more than " + std::to_string(kMaximumNesting) + " levels");
  Token begin = token_;
  if (!parseBinary(value, 1, depth))
    return false;
  if (!at(TokenKind::Question))
    return true;
  if (value.kind != Operand::Kind::Integer)
    return failAt(begin, "P-8", "the condition before '?' is no integer");
  advance();
  Constant yes, no;
  if (!parseConditional(yes, depth + 1) || !expect(TokenKind::Colon, "':'") || !parseConditional(no, depth + 1))
    return false;
  value = value.bits != 0 ? yes : no;
  return true;
}

/// Operators of at least `minimum` precedence, left to right.
bool Parser::parseBinary(Constant &value, unsigned minimum, unsigned depth) {
  if (!parseUnary(value, depth))
    return false;
  for (unsigned strength; (strength = precedence(token_.kind)) >= minimum && strength != 0;) {
    Token op = token_;
    advance();
    Constant right;
    if (!parseBinary(right, strength + 1, depth) || !applyBinary(op, value, right))
      return false;
  }
  return true;
}

bool Parser::parseTerm(Constant &value) {
  return parseBinary(value, kTermPrecedence, 0);
}

bool Parser::parseSum(Constant &value) {
  return parseBinary(value, kSumPrecedence, 0);
}

bool Parser::parseUnary(Constant &value, unsigned depth) {
  if (depth > kMaximumNesting)
    return fail("P-9", "a constant expression of more than " + std::to_string(kMaximumNesting) + " levels");
  Token op = token_;
  if (!at(TokenKind::Plus) && !at(TokenKind::Minus) && !at(TokenKind::Tilde) && !at(TokenKind::Exclaim))
    return parsePrimary(value, depth);
  advance();
  if (!parseUnary(value, depth + 1))
    return false;
  if (op.kind == TokenKind::Plus)
    return true;
  if (op.kind == TokenKind::Minus && value.kind == Operand::Kind::Integer)
    value.bits = 0 - value.bits;
  else if (op.kind == TokenKind::Minus)
    value.bits ^= value.kind == Operand::Kind::Float32 ? uint64_t(1) << 31 : uint64_t(1) << 63;
  else if (value.kind != Operand::Kind::Integer)
    return failAt(op, "P-8", quoteText(lexer_.spelling(op)) + " takes an integer, found a floating-point number");
  else
    value = {Operand::Kind::Integer, value.isUnsigned && op.kind == TokenKind::Tilde,
             op.kind == TokenKind::Tilde ? ~value.bits : uint64_t(value.bits == 0)};
  return true;
}

bool Parser::parsePrimary(Constant &value, unsigned depth) {
  if (at(TokenKind::Dotted) && text()[0] >= '0' && text()[0] <= '9')
    token_ = lexer_.relexAsFloat(token_); // .5
  switch (token_.kind) {
  case TokenKind::Integer:
    value = {Operand::Kind::Integer, token_.isUnsigned, token_.bits};
    break;
  case TokenKind::Float32:
    value = {Operand::Kind::Float32, false, token_.bits};
    break;
  case TokenKind::Float64:
    value = {Operand::Kind::Float64, false, token_.bits};
    break;
  case TokenKind::LeftParen:
    return parseParenthesised(value, depth);
  case TokenKind::Identifier:
    if (text() != "WARP_SZ")
      return fail("P-8", "found " + describe() + ", expected a constant",
                  "constant expressions hold numbers and WARP_SZ, no names");
    value = {Operand::Kind::Integer, false, 32};
    break;
  default:
    return unexpected("a name or a constant");
  }
  advance();
  return true;
}

/// (expression), or a cast: (.s64) or (.u64) before an operand.
bool Parser::parseParenthesised(Constant &value, unsigned depth) {
  advance();
  if (at(TokenKind::Dotted) && (text() == "s64" || text() == "u64")) {
    bool isUnsigned = text() == "u64";
    Token type = token_;
    advance();
    if (!expect(TokenKind::RightParen, "')'") || !parseUnary(value, depth + 1))
      return false;
    if (value.kind != Operand::Kind::Integer)
      return failAt(type, "P-8", "a cast takes an integer, found a floating-point number");
    value.isUnsigned = isUnsigned;
    return true;
  }
  return parseConditional(value, depth + 1) && expect(TokenKind::RightParen, "')'");
}

/// left = left op right.
bool Parser::applyBinary(const Token &op, Constant &left, const Constant &right) {
  if (left.kind != right.kind)
    return failAt(op, "P-8", quoteText(lexer_.spelling(op)) + " joins constants of two types",
                  "write both as integers, or both with a decimal point");
  if (left.kind != Operand::Kind::Integer)
    return applyFloat(op, left, right);
  bool isUnsigned = left.isUnsigned || right.isUnsigned;
  auto arithmetic = [&](uint64_t bits) {
    left = {Operand::Kind::Integer, isUnsigned, bits};
    return true;
  };
  auto truth = [&](bool holds) {
    left = {Operand::Kind::Integer, false, holds};
    return true;
  };
  switch (op.kind) {
  case TokenKind::Star:
    return arithmetic(left.bits * right.bits);
  case TokenKind::Slash:
  case TokenKind::Percent:
    if (right.bits == 0)
      return failAt(op, "P-8", "division by zero in a constant expression");
    return arithmetic(divide(left, right, op.kind == TokenKind::Percent));
  case TokenKind::Plus:
    return arithmetic(left.bits + right.bits);
  case TokenKind::Minus:
    return arithmetic(left.bits - right.bits);
  case TokenKind::ShiftLeft:
    isUnsigned = left.isUnsigned;
    return arithmetic(right.bits < 64 ? left.bits << right.bits : 0);
  case TokenKind::ShiftRight:
    isUnsigned = left.isUnsigned;
    return arithmetic(shiftRight(left, right.bits));
  case TokenKind::Ampersand:
    return arithmetic(left.bits & right.bits);
  case TokenKind::Caret:
    return arithmetic(left.bits ^ right.bits);
  case TokenKind::Pipe:
    return arithmetic(left.bits | right.bits);
  case TokenKind::Less:
    return truth(compare(left, right) < 0);
  case TokenKind::LessEqual:
    return truth(compare(left, right) <= 0);
  case TokenKind::Greater:
    return truth(compare(left, right) > 0);
  case TokenKind::GreaterEqual:
    return truth(compare(left, right) >= 0);
  case TokenKind::EqualEqual:
    return truth(left.bits == right.bits);
  case TokenKind::ExclaimEqual:
    return truth(left.bits != right.bits);
  case TokenKind::AmpersandAmpersand:
    return truth(left.bits != 0 && right.bits != 0);
  case TokenKind::PipePipe:
    return truth(left.bits != 0 || right.bits != 0);
  default:
    return unexpected("an operator");
  }
}

bool Parser::applyFloat(const Token &op, Constant &left, const Constant &right) {
  if (left.kind == Operand::Kind::Float32)
    return failAt(op, "P-8", "no arithmetic on 0f numbers", "write them as decimals, or compute the bits");
  auto a = std::bit_cast<double>(left.bits), b = std::bit_cast<double>(right.bits);
  auto number = [&](double value) {
    left.bits = std::bit_cast<uint64_t>(value);
    return true;
  };
  auto truth = [&](bool holds) {
    left = {Operand::Kind::Integer, false, holds};
    return true;
  };
  switch (op.kind) {
  case TokenKind::Star:
    return number(a * b);
  case TokenKind::Slash:
    if (b == 0)
      return failAt(op, "P-8", "division by zero in a constant expression");
    return number(a / b);
  case TokenKind::Plus:
    return number(a + b);
  case TokenKind::Minus:
    return number(a - b);
  case TokenKind::Less:
    return truth(a < b);
  case TokenKind::LessEqual:
    return truth(a <= b);
  case TokenKind::Greater:
    return truth(a > b);
  case TokenKind::GreaterEqual:
    return truth(a >= b);
  case TokenKind::EqualEqual:
    return truth(a == b);
  case TokenKind::ExclaimEqual:
    return truth(a != b);
  default:
    return failAt(op, "P-8", quoteText(lexer_.spelling(op)) + " takes integers, found floating-point numbers");
  }
}

bool Parser::parseNumber(uint32_t &value, std::string_view what) {
  if (!at(TokenKind::Integer) || token_.bits > UINT32_MAX)
    return unexpected(what);
  value = static_cast<uint32_t>(token_.bits);
  advance();
  return true;
}

bool Parser::countWithin(const Token &begin, const Constant &value, uint64_t minimum, uint64_t maximum,
                         std::string_view what) {
  bool negative = !value.isUnsigned && value.bits > INT64_MAX;
  if (value.kind == Operand::Kind::Integer && !negative && value.bits >= minimum && value.bits <= maximum)
    return true;
  return failAt(begin, "P-8",
                "found " + quoteText(lexer_.slice(begin.begin, previousEnd_)) + " as " + std::string(what) +
                    ", expected an integer from " + std::to_string(minimum) + " to " + std::to_string(maximum));
}

bool Parser::parseCount(uint64_t &value, uint64_t minimum, uint64_t maximum, std::string_view what) {
  Token begin = token_;
  Constant constant;
  if (!parseConstant(constant) || !countWithin(begin, constant, minimum, maximum, what))
    return false;
  value = constant.bits;
  return true;
}

bool Parser::parseCount(uint32_t &value, uint64_t minimum, uint64_t maximum, std::string_view what) {
  uint64_t wide = 0;
  if (!parseCount(wide, minimum, maximum, what))
    return false;
  value = static_cast<uint32_t>(wide);
  return true;
}

} // namespace tenon::ptx
