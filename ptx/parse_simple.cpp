// Plain statements, one after the other, without tokens (simple_reader.h).
#include "ptx/parser_state.h"
#include "ptx/simple_reader.h"

namespace tenon::ptx {
namespace {

/// Where a statement stands.
struct TextPlace {
  const char *text = nullptr;
  const char *lineStart = nullptr;
  uint32_t line = 0;

  /// Over blanks, line ends and `//` comments.
  void skip(const char *end) {
    for (;;) {
      while (*text == ' ' || *text == '\t' || *text == '\r')
        ++text;
      if (*text == '/' && text[1] == '/') {
        const void *newline = std::memchr(text, '\n', size_t(end - text));
        text = newline ? static_cast<const char *>(newline) : end;
      }
      if (*text != '\n')
        return;
      ++line;
      lineStart = ++text;
    }
  }
};

} // namespace

/// Reads plain statements as long as there are any; the token behind them is the current one then.
void Parser::parseSimpleStatements(Function &function) {
  const char *begin = lexer_.pointerTo(token_);
  TextPlace place{begin, begin - (token_.column - 1), token_.line};
  TextPlace done; // behind the last statement that was taken
  SimpleReader reader(lexer_, spellings_, *spellingArena_, *arena_);
  while (reader.hasRoom(place.text)) {
    const bool predicated = *place.text == '@';
    if (!predicated && !is(*place.text, kWordStart))
      break;
    const std::string_view spelling = predicated ? std::string_view() : reader.spellingAt(place.text);
    const char *end = nullptr;
    if (!predicated && spelling.ends_with(':')) {
      if (!(end = reader.readLabel(spelling)))
        break;
      function.statements.push_back({Statement::Kind::Label, 0, spelling.substr(0, spelling.size() - 1)});
    } else {
      const auto index = static_cast<uint32_t>(function.instructions.size());
      Instruction &instruction = function.instructions.emplace_back();
      end = predicated ? reader.readPredicated(place.text, instruction) : reader.readInstruction(spelling, instruction);
      if (!end) {
        function.instructions.pop_back();
        break;
      }
      instruction.line = place.line;
      instruction.column = static_cast<uint32_t>(place.text - place.lineStart) + 1;
      function.statements.push_back({Statement::Kind::Instruction, index, {}});
    }
    place.text = end;
    done = place;
    place.skip(lexer_.textEnd());
  }
  if (!done.text)
    return;
  lexer_.moveTo(done.text, done.line, done.lineStart);
  token_.end = lexer_.offsetOf(done.text);
  token_.line = done.line;
  advance();
}

} // namespace tenon::ptx
