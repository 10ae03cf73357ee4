// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module level: a list of directives. Functions, variables, instructions and constants have a file each
// (parse_*.cpp); the state they share is in parser_state.h.
//
//   .version 9.0  .target sm_90a  .address_size 64        the header, in this order, before anything else
//   [.extern|.visible|.weak|.common] .entry | .func | <state space> ...
//   .file N "path"   .section .debug_x { ... }   .alias a, b;   .pragma "x";
#include "ptx/parse/parser.h"

#include "ptx/parse/parser_state.h"
#include "ptx/words/characters.h"

#include <iterator>
#include <utility>

namespace tenon::ptx {
namespace {

constexpr std::string_view kModuleDirectives =
    "at module level stand .version .target .address_size .file .section .alias .pragma, variables, .func and .entry";

} // namespace

Module parse(std::shared_ptr<const SourceFile> source, Diagnostics &diagnostics) {
  if (source->text().size() >= UINT32_MAX) {
    diagnostics
        .error({source->name(), 0, 0}, "P-12",
               "the file has " + std::to_string(source->text().size()) + " bytes, PTX files end below 4294967295")
        .withFix("split it into several objects");
    Module module;
    module.source = std::move(source);
    return module;
  }
  BodyRoom room;
  return Parser(std::move(source), room, diagnostics).run();
}

Module parseBodies(std::shared_ptr<const SourceFile> source, Diagnostics &diagnostics, const BodyVisitor &visit,
                   BodyRoom &room) {
  if (source->text().size() >= UINT32_MAX)
    return parse(std::move(source), diagnostics); // refused there
  return Parser(std::move(source), room, diagnostics).run(visit);
}

Module parseBodies(std::shared_ptr<const SourceFile> source, Diagnostics &diagnostics, const BodyVisitor &visit) {
  BodyRoom room;
  return parseBodies(std::move(source), diagnostics, visit, room);
}

Function parseBody(const Module &module, const Function &function, Arena &arena) {
  Diagnostics none; // it was parsed before
  BodyRoom room;
  return Parser(module.source, room, none).runFunction(function, arena);
}

Parser::Parser(std::shared_ptr<const SourceFile> source, BodyRoom &room, Diagnostics &diagnostics)
    : reporter_(*source, diagnostics), lexer_(*source, reporter_), room_(room) {
  room_.spellings.clear();
  module_.source = std::move(source);
  module_.arena = std::make_unique<Arena>();
  arena_ = spellingArena_ = module_.arena.get();
}

Module Parser::run(const BodyVisitor &visit) {
  visit_ = &visit;
  module_.functions.swap(room_.functions);
  Module module = run();
  // They grew in memory that is there for the next parse, too.
  room_.functions.swap(module.functions);
  module.functions.assign(std::move_iterator(room_.functions.begin()), std::move_iterator(room_.functions.end()));
  room_.functions.clear();
  return module;
}

Function Parser::runFunction(const Function &known, Arena &arena) {
  arena_ = spellingArena_ = &arena;
  const SourceLocation place = module_.source->locate(known.range.begin);
  const char *begin = lexer_.textBegin() + known.range.begin;
  lexer_.moveTo(begin, place.line, begin - (place.column - 1));
  lexer_.next(token_);
  parseTopLevel();
  return module_.functions.empty() ? Function() : std::move(module_.functions.front());
}

Module Parser::run() {
  lexer_.next(token_);
  while (!at(TokenKind::End)) {
    Token begin = token_;
    openBraces_ = 0;
    if (!parseTopLevel())
      recoverTopLevel(begin);
  }
  checkHeader();
  return std::move(module_);
}

// ---------------------------------------------------------------------------------------------------- tokens, errors

std::string Parser::describe() const {
  if (at(TokenKind::End))
    return "the end of the file";
  return quoteText(lexer_.spelling(token_));
}

bool Parser::unexpected(std::string_view wanted, std::string fix) {
  return fail("P-4", "found " + describe() + ", expected " + std::string(wanted), std::move(fix));
}

bool Parser::fail(std::string_view rule, std::string message, std::string fix) {
  return failAt(token_, rule, std::move(message), std::move(fix));
}

bool Parser::failAt(const Token &where, std::string_view rule, std::string message, std::string fix) {
  reporter_.error(where, rule, std::move(message), std::move(fix));
  return false;
}

bool Parser::expectSemicolon() {
  if (accept(TokenKind::Semicolon))
    return true;
  if (token_.line == previousLine_ && !at(TokenKind::End))
    return unexpected("',' or ';'");
  Token after = token_; // the place just behind the previous token
  after.line = previousLine_;
  after.column = module_.source->locate(previousEnd_).column;
  failAt(after, "P-4", "found " + describe() + (at(TokenKind::End) ? "" : " on a later line") + ", expected ';'",
         "end the statement with ';'");
  return true;
}

bool Parser::parseName(std::string_view &name, std::string_view wanted) {
  if (!at(TokenKind::Identifier))
    return unexpected(wanted);
  if (isNoName(text()))
    return unexpected(wanted, atWord("_") ? "'_' stands for a result that nobody wants, nothing can be called so"
                                          : "'WARP_SZ' is the number 32, nothing can be called so");
  name = text();
  advance();
  return true;
}

bool Parser::unknownDirective(std::string_view where) {
  std::string_view nearest = nearestDirective(text());
  std::string fix(where);
  if (!nearest.empty() && nearest != text())
    fix = "did you mean '." + std::string(nearest) + "'?";
  return fail("P-5", describe() + " is not a directive that can stand here", std::move(fix));
}

// -------------------------------------------------------------------------------------------------------- module level

bool Parser::parseTopLevel() {
  if (!at(TokenKind::Dotted))
    return unexpected("a directive", std::string(kModuleDirectives));
  Linkage linkage;
  linkage.begin = token_;
  if (!parseLinkage(linkage))
    return false;
  std::optional<Directive> directive = at(TokenKind::Dotted) ? parseDirective(text()) : std::nullopt;
  if (!directive)
    return at(TokenKind::Dotted) ? unknownDirective(kModuleDirectives) : unexpected("a variable or a function");
  return parseTopLevelDirective(*directive, linkage);
}

bool Parser::parseTopLevelDirective(Directive directive, const Linkage &linkage) {
  switch (directive) {
  case Directive::Version:
    return parseVersion();
  case Directive::Target:
    return parseTarget();
  case Directive::AddressSize:
    return parseAddressSize();
  case Directive::File:
    return parseFile();
  case Directive::Section:
    return skipSection();
  case Directive::Alias:
    return parseAlias();
  case Directive::Pragma:
    return parsePragma(module_.pragmas);
  case Directive::Entry:
  case Directive::Func:
    checkHeader();
    return parseFunction(linkage, directive == Directive::Entry);
  case Directive::Shared:
  case Directive::Global:
  case Directive::Const:
  case Directive::Tex:
  case Directive::Local:
  case Directive::Align:
  case Directive::Attribute:
    checkHeader();
    return parseVariables(module_.variables, linkage, Place::Module);
  case Directive::Reg:
  case Directive::Sreg:
  case Directive::Param:
    return fail("P-7", "variables of " + describe() + " cannot stand at module level",
                "declare it inside a function, or use .global, .const or .shared");
  case Directive::Extern:
  case Directive::Visible:
  case Directive::Weak:
  case Directive::Common:
    return unexpected("a variable or a function");
  case Directive::Loc:
  case Directive::BranchTargets:
  case Directive::CallTargets:
  case Directive::CallPrototype:
  case Directive::Ptr:
  case Directive::MaxThreads:
  case Directive::RequiredThreads:
  case Directive::MinBlocksPerSm:
  case Directive::MaxBlocksPerSm:
  case Directive::MaxRegisters:
  case Directive::NoReturn:
  case Directive::AbiPreserve:
  case Directive::AbiPreserveControl:
  case Directive::ExplicitCluster:
  case Directive::RequiredCluster:
  case Directive::MaxClusterRank:
  case Directive::BlocksAreClusters:
    return unknownDirective(kModuleDirectives);
  }
  return false;
}

/// To behind the next `;` or the `}` that ends what was open, or to the next directive that only a module can hold.
void Parser::recoverTopLevel(const Token &begin) {
  if (token_.begin == begin.begin)
    advance();
  for (unsigned depth = openBraces_; !at(TokenKind::End); advance()) {
    if (at(TokenKind::LeftBrace)) {
      ++depth;
    } else if (at(TokenKind::RightBrace)) {
      if (depth <= 1) {
        advance();
        accept(TokenKind::Semicolon); // of an initialiser
        return;
      }
      --depth;
    } else if (at(TokenKind::Semicolon) && depth == 0) {
      advance();
      return;
    } else if (atFunctionStart() || atDirective(Directive::Version)) {
      return;
    }
  }
}

/// A directive that stands in no body, so that one whose `}` is missing does not swallow the next function.
bool Parser::atFunctionStart() const {
  return at(TokenKind::Dotted) && (text() == "entry" || text() == "func" || text() == "visible" || text() == "weak");
}

bool Parser::parseLinkage(Linkage &linkage) {
  for (; at(TokenKind::Dotted); advance()) {
    std::string_view word = text();
    bool *flag = word == "visible"  ? &linkage.isVisible
                 : word == "extern" ? &linkage.isExtern
                 : word == "weak"   ? &linkage.isWeak
                 : word == "common" ? &linkage.isCommon
                                    : nullptr;
    if (!flag)
      return true;
    if (linkage.isVisible || linkage.isExtern || linkage.isWeak || linkage.isCommon)
      return fail("P-4", "found a second linking directive, " + describe(),
                  "write one of .extern .visible .weak .common");
    *flag = true;
  }
  return true;
}

/// .alias name, target;
bool Parser::parseAlias() {
  advance();
  Alias alias;
  alias.line = token_.line;
  alias.column = token_.column;
  if (!parseName(alias.name, "the name of an alias") || !expect(TokenKind::Comma, "','") ||
      !parseName(alias.target, "the function that the alias stands for") || !expectSemicolon())
    return false;
  module_.aliases.push_back(alias);
  return true;
}

/// .file N "path" [, timestamp, size]
bool Parser::parseFile() {
  advance();
  DebugFile file;
  if (!parseNumber(file.number, "the number of a file"))
    return false;
  if (!at(TokenKind::String))
    return unexpected("the path of a file in quotes");
  file.path = text();
  advance();
  module_.files.push_back(file);
  for (uint64_t unused; accept(TokenKind::Comma);)
    if (!parseCount(unused, 0, UINT64_MAX, "a time or a size"))
      return false;
  return true;
}

/// .section .debug_info { ... }: DWARF data, of no use here; labels, numbers and sums inside are lexed and dropped.
bool Parser::skipSection() {
  advance();
  if (!at(TokenKind::Dotted) && !at(TokenKind::Identifier))
    return unexpected("the name of a section");
  advance();
  if (!expect(TokenKind::LeftBrace, "'{'"))
    return false;
  for (unsigned depth = 1; depth != 0; advance()) {
    if (at(TokenKind::End))
      return fail("P-11", "the section is not closed before the end of the file", "write '}' where it ends");
    if (at(TokenKind::LeftBrace))
      ++depth;
    else if (at(TokenKind::RightBrace))
      --depth;
  }
  return true;
}

/// .pragma "nounroll", "x";
bool Parser::parsePragma(std::vector<std::string_view> &pragmas) {
  advance();
  do {
    if (!at(TokenKind::String))
      return unexpected("a pragma in quotes");
    pragmas.push_back(text());
    advance();
  } while (accept(TokenKind::Comma));
  return expectSemicolon();
}

/// .attribute(.managed, .unified(19, 95)); `variable` is null for functions.
bool Parser::parseAttribute(Variable *variable) {
  advance();
  if (!expect(TokenKind::LeftParen, "'('"))
    return false;
  do {
    bool unified = at(TokenKind::Dotted) && text() == "unified";
    if (!unified && !(at(TokenKind::Dotted) && text() == "managed" && variable))
      return unexpected(variable ? "'.managed' or '.unified'" : "'.unified'");
    advance();
    if (!unified) {
      variable->isManaged = true;
      continue;
    }
    uint64_t half;
    if (!expect(TokenKind::LeftParen, "'('") || !parseCount(half, 0, UINT64_MAX, "half of an identifier") ||
        !expect(TokenKind::Comma, "','") || !parseCount(half, 0, UINT64_MAX, "half of an identifier") ||
        !expect(TokenKind::RightParen, "')'"))
      return false;
  } while (accept(TokenKind::Comma));
  return expect(TokenKind::RightParen, "')'");
}

} // namespace tenon::ptx
