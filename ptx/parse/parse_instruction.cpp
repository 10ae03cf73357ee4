// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction: [@[!]p] opcode.modifier... operand, operand, ...;
//
// No table of opcodes: an instruction is what it looks like. Operands are read by their own look as well:
//   %r1  -%r1  !%p1  %tid.x  sym+8  4  0f3F800000  1.5  WARP_SZ*2  _
//   {a, b}  [base+8]  [map, {x, y}]  p|q  and, of call alone, (a, b)
// `ld.u32 r, [a].unified` has a modifier behind its address; it joins the others.
#include "ptx/parse/parser_state.h"

namespace tenon::ptx {
namespace {

/// Takes [first, end) off a stack of operands.
List<Operand> takeFrom(Arena &arena, std::vector<Operand> &stack, size_t first) {
  List<Operand> out(arena, std::span<const Operand>(stack).subspan(first));
  stack.resize(first);
  return out;
}

} // namespace

bool Parser::parseInstruction(Function &function) {
  Token begin = token_;
  Instruction instruction;
  instruction.line = begin.line;
  instruction.column = begin.column;
  if (accept(TokenKind::At)) {
    instruction.predicateNegated = accept(TokenKind::Exclaim);
    if (!parseName(instruction.predicate, "a predicate register"))
      return false;
  }
  if (!parseOpcode(instruction) || !parseOperands(instruction) || !expectSemicolon())
    return false;
  instruction.modifiers = List<std::string_view>(*arena_, modifiers_);
  instruction.facts = factsOf(instruction.opcode, modifiers_);
  instruction.range = rangeFrom(begin, previousEnd_);
  function.statements.push_back(
      {Statement::Kind::Instruction, static_cast<uint32_t>(function.instructions.size()), {}});
  function.instructions.push_back(std::move(instruction));
  return true;
}

bool Parser::parseOpcode(Instruction &instruction) {
  modifiers_.clear();
  if (!parseName(instruction.opcode, "an instruction"))
    return false;
  for (; at(TokenKind::Dotted); advance())
    modifiers_.push_back(text());
  return true;
}

bool Parser::parseOperands(Instruction &instruction) {
  operands_.clear();
  if (at(TokenKind::Semicolon))
    return true;
  bool isCall = instruction.opcode == "call";
  do {
    Operand operand;
    bool parsed =
        isCall && at(TokenKind::LeftParen) ? parseGroup(operand, TokenKind::RightParen, 0) : parseOperand(operand, 0);
    if (!parsed)
      return false;
    operands_.push_back(operand);
  } while (accept(TokenKind::Comma));
  instruction.operands = takeFrom(*arena_, operands_, 0);
  return true;
}

bool Parser::parseOperand(Operand &operand, unsigned depth) {
  if (depth > kMaximumNesting)
    return fail("P-9", "operands stand inside each other more than " + std::to_string(kMaximumNesting) + " deep");
  bool parsed = false;
  switch (token_.kind) {
  case TokenKind::Identifier:
    parsed = atWord("WARP_SZ") ? parseConstantOperand(operand) : parseNameOperand(operand, depth);
    break;
  case TokenKind::LeftBrace:
    parsed = parseGroup(operand, TokenKind::RightBrace, depth);
    break;
  case TokenKind::LeftBracket:
    parsed = parseAddress(operand, depth);
    break;
  case TokenKind::Exclaim:
  case TokenKind::Minus: {
    bool isNot = at(TokenKind::Exclaim);
    // A sign before a name belongs to the operand, before a number to the constant.
    if (!lexer_.followedByName()) {
      parsed = parseConstantOperand(operand);
      break;
    }
    advance();
    if (atWord("_"))
      return unexpected("the name of a register", "'_' stands for a result that nobody wants, it has no value");
    parsed = parseNameOperand(operand, depth);
    (isNot ? operand.negated : operand.minus) = true;
    break;
  }
  default:
    parsed = parseConstantOperand(operand);
    break;
  }
  return parsed;
}

/// name, name.x, name+8, _, and either side of p|q.
bool Parser::parseNameOperand(Operand &operand, unsigned depth) {
  Token begin = token_;
  if (atWord("_")) {
    operand.kind = Operand::Kind::Sink;
    advance();
  } else if (operand.kind = Operand::Kind::Name; !parseName(operand.name, "an operand")) {
    return false;
  } else if (at(TokenKind::Dotted)) { // %tid.x, %v.b0
    if (!adjacent())
      return unexpected("',' or ';'", "join the parts of a name: %tid.x");
    advance();
    operand.name = lexer_.slice(begin.begin, previousEnd_);
  }
  if ((at(TokenKind::Plus) || at(TokenKind::Minus)) && !parseOffset(operand.offset))
    return false;
  if (!at(TokenKind::Pipe))
    return true;
  advance();
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  std::array<Operand, 2> sides = {operand, Operand()};
  if (!parseOperand(sides[1], depth + 1))
    return false;
  pair.elements = List<Operand>(*arena_, sides);
  operand = pair;
  return true;
}

/// [base + offset] or [base, {coordinates}, ...]
bool Parser::parseAddress(Operand &operand, unsigned depth) {
  size_t first = operands_.size();
  operand.kind = Operand::Kind::Address;
  advance();
  do {
    Operand part;
    if (atWord("_"))
      return unexpected("an address", "'_' stands for a result that nobody wants, it has no value");
    if (!parseOperand(part, depth + 1))
      return false;
    operands_.push_back(part);
  } while (accept(TokenKind::Comma));
  if (!expect(TokenKind::RightBracket, "',' or ']'"))
    return false;
  std::swap(operand.offset, operands_[first].offset);
  operand.elements = takeFrom(*arena_, operands_, first);
  for (; at(TokenKind::Dotted) && adjacent(); advance())
    modifiers_.push_back(text());
  return true;
}

/// {a, b} or (a, b); either may be empty.
bool Parser::parseGroup(Operand &operand, TokenKind close, unsigned depth) {
  size_t first = operands_.size();
  bool isVector = close == TokenKind::RightBrace;
  operand.kind = isVector ? Operand::Kind::Vector : Operand::Kind::List;
  advance();
  openBraces_ += isVector;
  if (!at(close)) {
    do {
      Operand element;
      if (!parseOperand(element, depth + 1))
        return false;
      operands_.push_back(element);
    } while (accept(TokenKind::Comma));
  }
  if (!expect(close, isVector ? "',' or '}'" : "',' or ')'"))
    return false;
  openBraces_ -= isVector;
  operand.elements = takeFrom(*arena_, operands_, first);
  return true;
}

bool Parser::parseConstantOperand(Operand &operand) {
  Constant value;
  if (!parseConstant(value))
    return false;
  operand.kind = value.kind;
  operand.bits = value.bits;
  return true;
}

/// Adds `+ 8`, `- 4`, `+-8`, `+ (4*2)` ... to `offset`; nothing is fine.
bool Parser::parseOffset(int64_t &offset) {
  while (at(TokenKind::Plus) || at(TokenKind::Minus)) {
    bool minus = at(TokenKind::Minus);
    advance();
    if (at(TokenKind::Identifier) && !atWord("WARP_SZ"))
      return fail("P-8", "found " + describe() + ", expected a constant offset",
                  "add registers with an instruction before: add.s64 %rd3, %rd1, %rd2");
    Token begin = token_;
    Constant term;
    if (!parseTerm(term))
      return false;
    if (term.kind != Operand::Kind::Integer)
      return failAt(begin, "P-8", "an offset is a whole number of bytes");
    uint64_t sum = static_cast<uint64_t>(offset);
    sum = minus ? sum - term.bits : sum + term.bits;
    offset = static_cast<int64_t>(sum);
  }
  return true;
}

} // namespace tenon::ptx
