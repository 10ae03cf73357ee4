// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain statements and parameters, one after the other, without tokens (simple_reader.h, simple_declaration.h). Whoever
// comes here has read the first token of one; whatever is not plain is left to the parser of all of PTX.
#include "ptx/parse/parser_state.h"
#include "ptx/parse/simple/simple_declaration.h"
#include "ptx/parse/simple/simple_reader.h"

#include <iterator>

namespace tenon::ptx {

/// Makes what stands behind `end` the current token; the text before it has been read.
void Parser::goOnBehind(const TextPlace &end) {
  lexer_.moveTo(end.text, end.line, end.lineStart);
  token_.end = lexer_.offsetOf(end.text);
  token_.line = end.line;
  advance();
}

/// Makes room in a large body for what stands before its `}`, which mostly begins a line: growing step by step would
/// copy it, and touch fresh memory, once for every doubling.
static void makeRoom(Function &function, const char *begin, const char *p, const char *end) {
  constexpr size_t kLarge = 4096, kMost = 8;
  const size_t count = function.instructions.size();
  if (count < kLarge || p <= begin)
    return;
  const std::string_view rest(p, size_t(end - p));
  const double left = double(std::min(rest.find("\n}"), rest.size())) / double(p - begin);
  const size_t wanted = count + size_t(double(count) * std::min<double>(left * 1.1 + 0.1, kMost));
  function.instructions.reserve(wanted);
  function.statements.reserve(wanted + wanted / 8);
}

/// An instruction or a label.
[[gnu::always_inline]] inline const char *Parser::parseSimpleInstruction(SimpleReader &reader, const TextPlace &place,
                                                                         Function &function) {
  const char *begin = place.text;
  std::string_view spelling;
  if (*begin != '@') {
    spelling = reader.spellingAt(begin);
    if (spelling.ends_with(':')) {
      if (const char *end = reader.readLabel(spelling)) {
        function.statements.push_back({Statement::Kind::Label, 0, spelling.substr(0, spelling.size() - 1)});
        return end;
      }
      return nullptr;
    }
  }
  const auto index = static_cast<uint32_t>(function.instructions.size());
  if (index == function.instructions.capacity()) [[unlikely]]
    makeRoom(function, lexer_.textBegin() + function.range.begin, begin, lexer_.textEnd());
  Instruction &instruction = function.instructions.emplace_back();
  const char *end = begin;
  if (*begin == '@' && (end = reader.readPredicate(begin + 1, instruction)))
    spelling = reader.spellingAt(end);
  if (!end || !(end = reader.readInstruction(spelling, instruction))) {
    function.instructions.pop_back();
    return nullptr;
  }
  instruction.range = {reader.offsetOf(begin), reader.offsetOf(end)};
  instruction.line = place.line;
  instruction.column = place.columnOf(begin);
  function.statements.push_back({Statement::Kind::Instruction, index, {}});
  return end;
}

/// Reads plain statements as long as there are any; the token behind them is the current one then.
void Parser::parseSimpleStatements(Function &function) {
  const char *begin = lexer_.pointerTo(token_);
  TextPlace place{begin, begin - (token_.column - 1), token_.line};
  TextPlace done; // behind the last statement that was taken
  SimpleReader reader(lexer_, room_.spellings, *spellingArena_, *arena_);
  while (reader.hasRoom(place.text)) {
    const char *end = nullptr;
    if (*place.text == '.') {
      end = parseSimpleDirective(place, function);
    } else if (is(*place.text, kWordStart) || *place.text == '@') {
      end = parseSimpleInstruction(reader, place, function);
    }
    if (!end)
      break;
    place.text = end;
    done = place;
    place.skip(lexer_.textEnd());
  }
  if (done.text)
    goOnBehind(done);
}

/// .reg, .param, .loc
const char *Parser::parseSimpleDirective(const TextPlace &place, Function &function) {
  if (place.text[1] == 'l') {
    SourceMark mark;
    TextPlace behind = place;
    if (!(behind.text = readSimpleMark(place.text, mark)))
      return nullptr;
    const char *end = behind.text;
    behind.skip(lexer_.textEnd());
    if (*behind.text == ',' || *behind.text == '/')
      return nullptr; // there is more of it, or maybe behind a comment
    function.statements.push_back({Statement::Kind::Loc, static_cast<uint32_t>(function.marks.size()), {}});
    function.marks.push_back(mark);
    return end;
  }
  const auto index = static_cast<uint32_t>(function.declarations.size());
  Variable &variable = function.declarations.emplace_back();
  const char *end = readSimpleVariable(place, lexer_.textEnd(), variable);
  if (!end || *end != ';') {
    function.declarations.pop_back();
    return nullptr;
  }
  variable.range = {lexer_.offsetOf(place.text), lexer_.offsetOf(++end)};
  function.statements.push_back({Statement::Kind::Declaration, index, variable.name});
  return end;
}

/// Reads plain parameters, each up to behind its `,`, as long as there are any. True: the last one was read, and the
/// `)` is the current token.
bool Parser::parseSimpleParameters(std::vector<Variable> &parameters, bool isOfEntry) {
  const char *begin = lexer_.pointerTo(token_);
  TextPlace place{begin, begin - (token_.column - 1), token_.line};
  TextPlace done; // behind the last `,`, or the last parameter
  bool closed = false;
  for (parameters_.clear(); !closed; place.skip(lexer_.textEnd())) {
    Variable &variable = parameters_.emplace_back();
    const char *end = readSimpleVariable(place, lexer_.textEnd(), variable);
    TextPlace behind = place;
    if ((behind.text = end))
      behind.skip(lexer_.textEnd());
    if (!end || (isOfEntry && variable.space != StateSpace::Param) || (*behind.text != ',' && *behind.text != ')')) {
      parameters_.pop_back();
      break;
    }
    variable.range = {lexer_.offsetOf(place.text), lexer_.offsetOf(end)};
    closed = *behind.text == ')';
    if (closed) {
      place.text = end;
    } else {
      place = behind;
      ++place.text;
    }
    done = place;
  }
  parameters.insert(parameters.end(), std::move_iterator(parameters_.begin()), std::move_iterator(parameters_.end()));
  if (done.text)
    goOnBehind(done);
  return closed;
}

} // namespace tenon::ptx
