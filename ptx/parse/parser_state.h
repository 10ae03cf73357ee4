// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parser's state and its productions, one member function per production of PTX; private to ptx/parse*.cpp.
//
// The convention of every `bool parseX(...)`: the current token begins X; true: X was consumed; false: an error was
// reported and the token stays where the trouble is. Whoever owns the statement then recovers, at `;` or `}`.
// Nothing here recurses without a limit (kMaximumNesting).
#pragma once

#include "ptx/directive.h"
#include "ptx/module.h"
#include "ptx/parse/body_room.h"
#include "ptx/parse/body_visitor.h"
#include "ptx/words/lexer.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tenon::ptx {

class SimpleReader;
class TextPlace;

/// A constant expression's value.
struct Constant {
  Operand::Kind kind = Operand::Kind::Integer; // Integer, Float32 or Float64
  bool isUnsigned = false;                     // Integer: u64, else s64
  uint64_t bits = 0;
};

/// Linking directives seen before a declaration.
struct Linkage {
  bool isExtern = false, isVisible = false, isWeak = false, isCommon = false;
  Token begin; // first token of the declaration
};

class Parser {
public:
  Parser(std::shared_ptr<const SourceFile> source, BodyRoom &room, Diagnostics &diagnostics);
  Module run();
  /// As run(), but bodies are shown to `visit` one by one and not kept.
  Module run(const BodyVisitor &visit);
  /// One function of a module that was parsed before, with its body.
  Function runFunction(const Function &known, Arena &arena);

private:
  static constexpr unsigned kMaximumNesting = 64;
  enum class Place : uint8_t { Module, Body, Parameter };

  // --- tokens (parser.cpp)
  bool at(TokenKind kind) const { return token_.kind == kind; }
  void advance() {
    previousEnd_ = token_.end;
    previousLine_ = token_.line;
    lexer_.next(token_);
  }
  bool accept(TokenKind kind) {
    if (!at(kind))
      return false;
    advance();
    return true;
  }
  bool expect(TokenKind kind, std::string_view wanted) { return accept(kind) || unexpected(wanted); }
  bool atWord(std::string_view word) const { return at(TokenKind::Identifier) && text() == word; }
  bool atDirective(Directive directive) const { return at(TokenKind::Dotted) && parseDirective(text()) == directive; }
  /// The current token touches the one before.
  bool adjacent() const { return token_.begin == previousEnd_; }
  std::string_view text() const { return lexer_.text(token_); }
  std::string describe() const;
  /// Reports "expected <wanted>, found <token>" (P-4) and returns false, as the next two do.
  bool unexpected(std::string_view wanted, std::string fix = {});
  bool fail(std::string_view rule, std::string message, std::string fix = {});
  bool failAt(const Token &where, std::string_view rule, std::string message, std::string fix = {});
  SourceLocation locate(const Token &token) const { return {module_.source->name(), token.line, token.column}; }
  /// `;`. A missing one is reported after the previous token; on a new line parsing goes on as if it were there.
  bool expectSemicolon();
  bool parseName(std::string_view &name, std::string_view wanted);
  bool unknownDirective(std::string_view where);

  // --- module level (parser.cpp)
  bool parseTopLevel();
  bool parseTopLevelDirective(Directive directive, const Linkage &linkage);
  void recoverTopLevel(const Token &begin);
  bool parseLinkage(Linkage &linkage);
  bool parseAlias();
  bool parseFile();
  bool skipSection();
  bool parsePragma(std::vector<std::string_view> &pragmas);
  bool parseAttribute(Variable *variable);

  // --- the header (parse_header.cpp)
  bool parseVersion();
  bool parseTarget();
  bool parseAddressSize();
  void checkHeader();

  // --- functions (parse_function.cpp)
  bool parseFunction(const Linkage &linkage, bool isEntry);
  void takeRoom(Function &function);
  void showBody(Function &function);
  static void swapBodies(Function &a, Function &b);
  bool parseFunctionHeader(Function &function);
  bool parseHeaderDirective(Function &function);
  bool parseExtents(std::optional<std::array<uint32_t, 3>> &extents);
  bool parseParameterList(std::vector<Variable> &parameters, bool isOfEntry = false);
  void parseBody(Function &function);
  bool parseStatement(Function &function);
  bool parseLabelOrInstruction(Function &function);
  bool parseLabelTable(Function &function, const Token &name);
  bool parseBodyDirective(Function &function);
  bool parseLoc(Function &function);
  void recoverStatement(const Token &begin);
  bool atFunctionStart() const;

  // --- variables (parse_variable.cpp, parse_initializer.cpp)
  bool parseVariables(std::vector<Variable> &out, const Linkage &linkage, Place place);
  bool parseVariablePrefix(Variable &variable);
  bool parsePtr(Variable &variable);
  bool parseAlignment(uint32_t &alignment);
  bool parseDeclarator(Variable &variable, Place place);
  bool parseDimensions(Variable &variable);
  bool parseInitializer(Variable &variable);
  bool parseInitializerGroup(Variable &variable, std::span<const uint64_t> strides, size_t level);
  bool parseInitializerValue(Variable::Initializer &initializer);
  bool parseInitializerField(Variable::Initializer &initializer);
  bool parseInitializerSymbol(Variable::Initializer &initializer);

  // --- plain statements and parameters, in one go (parse_simple.cpp)
  void goOnBehind(const TextPlace &end);
  void parseSimpleStatements(Function &function);
  const char *parseSimpleInstruction(SimpleReader &reader, const TextPlace &place, Function &function);
  const char *parseSimpleDirective(const TextPlace &place, Function &function);
  bool parseSimpleParameters(std::vector<Variable> &parameters, bool isOfEntry);

  // --- instructions (parse_instruction.cpp)
  bool parseInstruction(Function &function);
  bool parseOpcode(Instruction &instruction);
  bool parseOperands(Instruction &instruction);
  bool parseOperand(Operand &operand, unsigned depth);
  bool parseNameOperand(Operand &operand, unsigned depth);
  bool parseAddress(Operand &operand, unsigned depth);
  bool parseGroup(Operand &operand, TokenKind close, unsigned depth);
  bool parseConstantOperand(Operand &operand);
  bool parseOffset(int64_t &offset);

  // --- constant expressions (parse_expression.cpp)
  bool parseConstant(Constant &value) { return parseConditional(value, 0); }
  bool parseConditional(Constant &value, unsigned depth);
  bool parseBinary(Constant &value, unsigned minimum, unsigned depth);
  /// A product of unary operands: what may follow the `+` of an offset.
  bool parseTerm(Constant &value);
  /// A sum: no comparison, no shift.
  bool parseSum(Constant &value);
  bool parseUnary(Constant &value, unsigned depth);
  bool parsePrimary(Constant &value, unsigned depth);
  bool parseParenthesised(Constant &value, unsigned depth);
  bool applyBinary(const Token &op, Constant &left, const Constant &right);
  bool applyFloat(const Token &op, Constant &left, const Constant &right);
  /// One literal of 32 bits: of .loc and .file, whose numbers follow each other without commas.
  bool parseNumber(uint32_t &value, std::string_view what);
  /// `value`, read at `begin`, is an integer in [minimum, maximum], or an error is reported.
  bool countWithin(const Token &begin, const Constant &value, uint64_t minimum, uint64_t maximum,
                   std::string_view what);
  /// An integer constant in [minimum, maximum], for sizes and counts; `what` names it in errors.
  bool parseCount(uint64_t &value, uint64_t minimum, uint64_t maximum, std::string_view what);
  bool parseCount(uint32_t &value, uint64_t minimum, uint64_t maximum, std::string_view what);

  Module module_;
  Reporter reporter_;
  Lexer lexer_;
  Token token_;
  uint32_t previousEnd_ = 0;
  uint32_t previousLine_ = 1;
  unsigned openBraces_ = 0;   // of operands in the statement at hand: recovery must not take their `}` for the body's
  bool mayBeUnnamed_ = false; // parameters may be `_`: of a kernel or a prototype
  uint64_t paddingLeft_ = 1u << 20; // zeros that short groups of initialisers may still take; more is a mistake
  bool headerReported_ = false;
  const BodyVisitor *visit_ = nullptr; // bodies are shown and dropped
  BodyRoom &room_;
  Arena *arena_ = nullptr;         // takes modifiers and operands: the module's, or of the body at hand
  Arena *spellingArena_ = nullptr; // as long as the module lives, or the body that is read again
  // Reused across statements; groups in the making grow on them as on a stack and are copied out at their exact size.
  std::vector<std::string_view> modifiers_;
  std::vector<Operand> operands_;
  std::vector<Variable> parameters_;
};

/// Bytes from the start of `begin` to `end`.
inline SourceRange rangeFrom(const Token &begin, uint32_t end) {
  return {begin.begin, end};
}

} // namespace tenon::ptx
