// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions: header, parameters, performance directives, and the body as a flat list of statements in source order.
// Scopes `{ }` inside a body are statements of their own (BlockBegin, BlockEnd), so nothing here recurses.
//
//   .visible .entry name(.param .u64 p) .maxntid 256, 1, 1 { ... }
//   .func (.param .b32 result) name(.param .b32 x) .noreturn ;
#include "ptx/parse/parser_state.h"

namespace tenon::ptx {
namespace {

constexpr std::string_view kHeaderDirectives =
    "before the body stand .maxntid .reqntid .minnctapersm .maxnreg .reqnctapercluster .explicitcluster "
    ".maxclusterrank .blocksareclusters .noreturn .pragma";
constexpr std::string_view kBodyDirectives =
    "in a body stand .reg .param .shared .local .global .const .loc .pragma, labels and instructions";

} // namespace

bool Parser::parseFunction(const Linkage &linkage, bool isEntry) {
  Function function;
  function.isEntry = isEntry;
  function.isVisible = linkage.isVisible;
  function.isExtern = linkage.isExtern;
  function.isWeak = linkage.isWeak;
  if (linkage.isCommon)
    return failAt(linkage.begin, "P-4", "found '.common' on a function, expected .extern, .visible or .weak");
  advance();
  if (!parseFunctionHeader(function))
    return false;
  const bool hasBody = at(TokenKind::LeftBrace);
  if (hasBody) {
    function.range = rangeFrom(linkage.begin, previousEnd_); // its end is set behind the body
    takeRoom(function);
    parseBody(function);
  } else {
    function.isDeclaration = true;
    if (!at(TokenKind::Semicolon))
      return unexpected("'{' or ';' after the header of a function", std::string(kHeaderDirectives));
    advance();
  }
  function.range = rangeFrom(linkage.begin, previousEnd_);
  module_.functions.push_back(std::move(function));
  if (hasBody && visit_)
    showBody(module_.functions.back());
  return true;
}

/// The room of the body before, where bodies are dropped.
void Parser::takeRoom(Function &function) {
  if (!visit_)
    return;
  swapBodies(function, room_.spare);
  function.statements.clear();
  function.instructions.clear();
  function.declarations.clear();
  function.marks.clear();
  function.tables.clear();
  room_.arena.reset();
  arena_ = &room_.arena;
}

void Parser::showBody(Function &function) {
  if (!reporter_.any())
    (*visit_)(module_, function);
  swapBodies(function, room_.spare);
  arena_ = module_.arena.get();
}

void Parser::swapBodies(Function &a, Function &b) {
  a.statements.swap(b.statements);
  a.instructions.swap(b.instructions);
  a.declarations.swap(b.declarations);
  a.marks.swap(b.marks);
  a.tables.swap(b.tables);
}

bool Parser::parseFunctionHeader(Function &function) {
  mayBeUnnamed_ = function.isEntry;
  if (atDirective(Directive::Attribute) && !parseAttribute(nullptr))
    return false;
  if (!function.isEntry && at(TokenKind::LeftParen) && !parseParameterList(function.returns))
    return false;
  function.line = token_.line;
  function.column = token_.column;
  if (!parseName(function.name, function.isEntry ? "the name of a kernel" : "the name of a function"))
    return false;
  if (at(TokenKind::LeftParen) && !parseParameterList(function.parameters, function.isEntry))
    return false;
  while (at(TokenKind::Dotted))
    if (!parseHeaderDirective(function))
      return false;
  return true;
}

bool Parser::parseHeaderDirective(Function &function) {
  auto count = [&](std::optional<uint32_t> &value, std::string_view what) {
    uint32_t number = 0;
    advance();
    if (!parseCount(number, 0, UINT32_MAX, what))
      return false;
    value = number;
    return true;
  };
  auto flag = [&](bool &value) {
    advance();
    return value = true;
  };
  std::optional<uint32_t> ignored;
  std::optional<Directive> directive = parseDirective(text());
  if (!directive)
    return unknownDirective(kHeaderDirectives);
  // An exhaustive switch would list every directive of PTX here; the rest is one error.
  if (*directive == Directive::MaxThreads)
    return parseExtents(function.maxThreads);
  if (*directive == Directive::RequiredThreads)
    return parseExtents(function.requiredThreads);
  if (*directive == Directive::RequiredCluster)
    return parseExtents(function.requiredCluster);
  if (*directive == Directive::MinBlocksPerSm || *directive == Directive::MaxBlocksPerSm)
    return count(function.minBlocksPerSm, "the number of blocks"); // .maxnctapersm is its old name
  if (*directive == Directive::MaxRegisters)
    return count(function.maxRegisters, "the number of registers");
  if (*directive == Directive::MaxClusterRank)
    return count(function.maxClusterRank, "the number of blocks");
  if (*directive == Directive::AbiPreserve || *directive == Directive::AbiPreserveControl)
    return count(ignored, "the number of registers"); // a promise to callers that ptxas compiles
  if (*directive == Directive::ExplicitCluster)
    return flag(function.explicitCluster);
  if (*directive == Directive::BlocksAreClusters)
    return flag(function.blocksAreClusters);
  if (*directive == Directive::NoReturn)
    return flag(function.noReturn);
  if (*directive == Directive::Pragma)
    return parsePragma(function.pragmas);
  return unknownDirective(kHeaderDirectives);
}

/// .maxntid 16, 16
bool Parser::parseExtents(std::optional<std::array<uint32_t, 3>> &extents) {
  Token begin = token_;
  std::array<uint32_t, 3> values = {1, 1, 1};
  advance();
  size_t n = 0;
  do {
    if (n == values.size())
      return unexpected("at most three extents");
    if (!parseCount(values[n++], 1, UINT32_MAX, "an extent of " + quoteText(lexer_.spelling(begin))))
      return false;
  } while (accept(TokenKind::Comma));
  extents = values;
  return true;
}

bool Parser::parseParameterList(std::vector<Variable> &parameters, bool isOfEntry) {
  advance();
  if (accept(TokenKind::RightParen))
    return true;
  if (parseSimpleParameters(parameters, isOfEntry))
    return accept(TokenKind::RightParen);
  do {
    Linkage linkage;
    linkage.begin = token_;
    if (!parseVariables(parameters, linkage, Place::Parameter))
      return false;
    if (isOfEntry && parameters.back().space != StateSpace::Param)
      return failAt(linkage.begin, "P-7", "a parameter of a kernel is not .param", "write '.param' before its type");
  } while (accept(TokenKind::Comma));
  return expect(TokenKind::RightParen, "',' or ')'");
}

// ------------------------------------------------------------------------------------------------------------- bodies

/// From `{` to behind the matching `}`. Errors of statements are recovered here.
void Parser::parseBody(Function &function) {
  constexpr unsigned kMaximumScopes = 256;
  Token open = token_;
  advance();
  for (unsigned depth = 1;;) {
    Token begin = token_;
    openBraces_ = 0;
    if (at(TokenKind::End) || atFunctionStart()) {
      fail("P-11",
           "found " + describe() + ", but the body of " + quoteText(function.name) + " at line " +
               std::to_string(open.line) + " is not closed",
           "write '}' where the body ends");
      return;
    }
    if (accept(TokenKind::RightBrace)) {
      if (--depth == 0)
        return;
      function.statements.push_back({Statement::Kind::BlockEnd, 0, {}});
    } else if (accept(TokenKind::LeftBrace)) {
      function.statements.push_back({Statement::Kind::BlockBegin, 0, {}});
      if (++depth == kMaximumScopes + 1)
        failAt(begin, "P-9", "more than " + std::to_string(kMaximumScopes) + " scopes inside each other");
    } else if (!parseStatement(function)) {
      recoverStatement(begin);
    }
  }
}

bool Parser::parseStatement(Function &function) {
  if (at(TokenKind::Identifier) || at(TokenKind::At) || at(TokenKind::Dotted)) {
    const uint32_t begin = token_.begin;
    parseSimpleStatements(function);
    if (token_.begin != begin)
      return true;
  }
  switch (token_.kind) {
  case TokenKind::Identifier:
    return parseLabelOrInstruction(function);
  case TokenKind::At:
    return parseInstruction(function);
  case TokenKind::Dotted:
    return parseBodyDirective(function);
  default:
    return unexpected("an instruction, a label or a directive",
                      at(TokenKind::Semicolon) ? "remove the extra ';'" : std::string());
  }
}

bool Parser::parseLabelOrInstruction(Function &function) {
  if (!lexer_.followedBy(':'))
    return parseInstruction(function);
  Token name = token_;
  if (std::string_view label; !parseName(label, "a label"))
    return false;
  advance();
  if (atDirective(Directive::BranchTargets) || atDirective(Directive::CallTargets) ||
      atDirective(Directive::CallPrototype))
    return parseLabelTable(function, name);
  function.statements.push_back({Statement::Kind::Label, 0, lexer_.text(name)});
  return true;
}

/// name: .branchtargets a, b;   .calltargets f, g;   .callprototype (ret) _ (params) .noreturn;
bool Parser::parseLabelTable(Function &function, const Token &name) {
  LabelTable table;
  table.name = lexer_.text(name);
  table.line = name.line;
  table.column = name.column;
  Statement::Kind kind = atDirective(Directive::BranchTargets) ? Statement::Kind::BranchTargets
                         : atDirective(Directive::CallTargets) ? Statement::Kind::CallTargets
                                                               : Statement::Kind::CallPrototype;
  advance();
  if (kind == Statement::Kind::CallPrototype) {
    Function header;
    mayBeUnnamed_ = true;
    if (at(TokenKind::LeftParen) && !parseParameterList(table.returns))
      return false;
    if (!atWord("_"))
      return unexpected("'_' in place of the function's name");
    advance();
    if (at(TokenKind::LeftParen) && !parseParameterList(table.parameters))
      return false;
    while (at(TokenKind::Dotted))
      if (!parseHeaderDirective(header))
        return false;
    table.noReturn = header.noReturn;
  } else {
    do {
      std::string_view entry;
      if (!parseName(entry, kind == Statement::Kind::BranchTargets ? "a label" : "the name of a function"))
        return false;
      table.entries.push_back(entry);
    } while (accept(TokenKind::Comma));
  }
  if (!expectSemicolon())
    return false;
  function.statements.push_back({kind, static_cast<uint32_t>(function.tables.size()), table.name});
  function.tables.push_back(std::move(table));
  return true;
}

bool Parser::parseBodyDirective(Function &function) {
  std::optional<Directive> directive = parseDirective(text());
  if (directive == Directive::Loc)
    return parseLoc(function);
  if (directive == Directive::File)
    return parseFile();
  if (directive == Directive::Section)
    return skipSection();
  if (directive == Directive::Pragma) {
    std::vector<std::string_view> pragmas;
    bool parsed = parsePragma(pragmas);
    for (std::string_view pragma : pragmas)
      function.statements.push_back({Statement::Kind::Pragma, 0, pragma});
    return parsed;
  }
  Linkage linkage;
  linkage.begin = token_;
  if (!parseLinkage(linkage))
    return false;
  directive = at(TokenKind::Dotted) ? parseDirective(text()) : std::nullopt;
  bool declares =
      directive && (stateSpace(*directive) || directive == Directive::Align || directive == Directive::Attribute);
  if (!declares)
    return at(TokenKind::Dotted) ? unknownDirective(kBodyDirectives) : unexpected("a variable");
  size_t first = function.declarations.size();
  bool parsed = parseVariables(function.declarations, linkage, Place::Body);
  for (size_t i = first; i < function.declarations.size(); ++i)
    function.statements.push_back(
        {Statement::Kind::Declaration, static_cast<uint32_t>(i), function.declarations[i].name});
  return parsed;
}

/// .loc FILE LINE COLUMN [, function_name LABEL [+ n], inlined_at FILE LINE COLUMN]
bool Parser::parseLoc(Function &function) {
  SourceMark mark;
  advance();
  if (!parseNumber(mark.file, "the number of a file") || !parseNumber(mark.line, "a line") ||
      !parseNumber(mark.column, "a column"))
    return false;
  while (accept(TokenKind::Comma)) {
    if (atWord("function_name")) {
      int64_t offset = 0;
      advance();
      if (!parseName(mark.functionName, "the label of a name") || !parseOffset(offset))
        return false;
    } else if (atWord("inlined_at")) {
      advance();
      if (!parseNumber(mark.inlinedFile, "the number of a file") || !parseNumber(mark.inlinedLine, "a line") ||
          !parseNumber(mark.inlinedColumn, "a column"))
        return false;
    } else {
      return unexpected("'function_name' or 'inlined_at'");
    }
  }
  function.statements.push_back({Statement::Kind::Loc, static_cast<uint32_t>(function.marks.size()), {}});
  function.marks.push_back(mark);
  return true;
}

/// To behind the next `;`, or to the `}` that ends the scope.
void Parser::recoverStatement(const Token &begin) {
  if (token_.begin == begin.begin && !at(TokenKind::End))
    advance();
  for (unsigned depth = openBraces_; !at(TokenKind::End) && !atFunctionStart(); advance()) {
    if (at(TokenKind::LeftBrace)) {
      ++depth;
    } else if (at(TokenKind::RightBrace)) {
      if (depth == 0)
        return;
      --depth;
    } else if (at(TokenKind::Semicolon)) {
      advance();
      return;
    }
  }
}

} // namespace tenon::ptx
