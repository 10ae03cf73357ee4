// The plain lines that nearly all of a body is made of, read straight from the text, without a token for each word:
//
//   @%p1 bra $L__BB0_2;          mad.lo.s32 %r1, %r2, %r3, -4;      ld.global.v2.f32 {%f1, %f2}, [%rd8+16];
//   $L__BB0_2:                   fma.rn.f32 %f3, %f2, %f1, 0f3F800000;
//
// Whatever is not as plain (an expression, a call, a line break, a comment, a mistake) is left untouched to
// parse_instruction.cpp, which reads all of PTX; both make the same of the same text.
#include "ptx/characters.h"
#include "ptx/parser_state.h"

#include <array>

namespace tenon::ptx {
namespace {

constexpr size_t kMost = 12; // modifiers, operands, elements of all vectors; more are rare

/// Reads instructions from `cursor` on. A production that returns false has met something that is not plain.
class SimpleReader {
public:
  SimpleReader(const Lexer &lexer, Arena &arena, const char *cursor)
      : lexer_(lexer), arena_(arena), end_(lexer.textEnd()), cursor_(cursor) {}

  const char *cursor() const { return cursor_; }
  void moveTo(const char *cursor) { cursor_ = cursor; }

  bool readPredicate(Instruction &instruction) {
    if (*cursor_ != '@')
      return true;
    ++cursor_;
    instruction.predicateNegated = *cursor_ == '!';
    cursor_ += instruction.predicateNegated;
    return readWord(instruction.predicate) && !is(*cursor_, kWordStart | kWord) && skipBlanks();
  }

  bool readWord(std::string_view &word) {
    const char *begin = cursor_;
    if (!is(*begin, kWordStart) || (*begin == '%' && !is(begin[1], kWord)))
      return false;
    cursor_ = wordEnd(begin + 1, end_);
    word = {begin, size_t(cursor_ - begin)};
    return true;
  }

  bool readModifiers(Instruction &instruction) {
    size_t count = 0;
    while (*cursor_ == '.' && is(cursor_[1], kWord)) {
      if (count == modifiers_.size())
        return false;
      const char *begin = cursor_ + 1;
      cursor_ = dottedEnd(cursor_, end_);
      modifiers_[count++] = {begin, size_t(cursor_ - begin)};
    }
    instruction.modifiers = List<std::string_view>(arena_, {modifiers_.data(), count});
    return *cursor_ != '.';
  }

  /// To behind the `;`.
  bool readOperands(Instruction &instruction) {
    size_t count = 0;
    skipBlanks();
    while (*cursor_ != ';') {
      if (count == operands_.size() || !readOperand(operands_[count++]))
        return false;
      skipBlanks();
      if (*cursor_ == ',') {
        ++cursor_;
        skipBlanks();
        if (*cursor_ == ';')
          return false;
      } else if (*cursor_ != ';') {
        return false;
      }
    }
    ++cursor_;
    instruction.operands = List<Operand>(arena_, {operands_.data(), count});
    return true;
  }

  bool skipBlanks() {
    while (*cursor_ == ' ' || *cursor_ == '\t')
      ++cursor_;
    return true;
  }

private:
  bool readOperand(Operand &operand) {
    operand = Operand();
    operand.range.begin = lexer_.offsetOf(cursor_);
    bool read = false;
    if (is(*cursor_, kWordStart)) {
      read = readName(operand);
    } else if (*cursor_ == '[') {
      return readAddress(operand);
    } else if (*cursor_ == '{') {
      return readVector(operand);
    } else if (*cursor_ == '0' && (cursor_[1] == 'f' || cursor_[1] == 'F')) {
      read = readBits(operand, 8, Operand::Kind::Float32);
    } else if (*cursor_ == '0' && (cursor_[1] == 'd' || cursor_[1] == 'D')) {
      read = readBits(operand, 16, Operand::Kind::Float64);
    } else if (*cursor_ == '!') {
      ++cursor_;
      operand.negated = true;
      read = is(*cursor_, kWordStart) && readName(operand);
    } else {
      int64_t value = 0;
      operand.kind = Operand::Kind::Integer;
      read = readInteger(value);
      operand.bits = static_cast<uint64_t>(value);
    }
    operand.range.end = lexer_.offsetOf(cursor_);
    return read;
  }

  /// name, name.x, _
  bool readName(Operand &operand) {
    const char *begin = cursor_;
    if (!readWord(operand.name) || operand.name == "WARP_SZ")
      return false;
    if (operand.name == "_") {
      operand.kind = Operand::Kind::Sink;
      operand.name = {};
      return *cursor_ != '.';
    }
    operand.kind = Operand::Kind::Name;
    if (*cursor_ == '.') {
      if (!is(cursor_[1], kWord))
        return false;
      cursor_ = dottedEnd(cursor_, end_);
      operand.name = {begin, size_t(cursor_ - begin)};
    }
    return *cursor_ != '.';
  }

  /// [name], [name+8], [name+-8], [name-8]
  bool readAddress(Operand &operand) {
    operand.kind = Operand::Kind::Address;
    ++cursor_;
    skipBlanks();
    Operand base;
    base.range.begin = lexer_.offsetOf(cursor_);
    if (!readName(base) || base.kind != Operand::Kind::Name)
      return false;
    if (*cursor_ == '+' || *cursor_ == '-') {
      cursor_ += *cursor_ == '+';
      if (!readInteger(operand.offset))
        return false;
    }
    base.range.end = lexer_.offsetOf(cursor_);
    skipBlanks();
    if (*cursor_ != ']' || cursor_[1] == '.')
      return false;
    ++cursor_;
    operand.range.end = lexer_.offsetOf(cursor_);
    operand.elements = List<Operand>(arena_, {&base, 1});
    return true;
  }

  /// {a, b}
  bool readVector(Operand &operand) {
    operand.kind = Operand::Kind::Vector;
    ++cursor_;
    size_t count = 0;
    do {
      skipBlanks();
      if (count == elements_.size() || *cursor_ == '{' || *cursor_ == '[' || !readOperand(elements_[count++]))
        return false;
      skipBlanks();
    } while (*cursor_ == ',' && ++cursor_);
    if (*cursor_ != '}')
      return false;
    ++cursor_;
    operand.range.end = lexer_.offsetOf(cursor_);
    operand.elements = List<Operand>(arena_, {elements_.data(), count});
    return true;
  }

  /// A decimal number of at most 18 digits, which fits; no leading zero, no suffix, no point.
  bool readInteger(int64_t &value) {
    const bool minus = *cursor_ == '-';
    cursor_ += minus;
    const char *begin = cursor_;
    while (is(*cursor_, kDigit) && cursor_ - begin < 19)
      value = value * 10 + (*cursor_++ - '0');
    const auto digits = cursor_ - begin;
    if (minus)
      value = -value;
    return digits > 0 && digits < 19 && (digits == 1 || *begin != '0') && !is(*cursor_, kWord) && *cursor_ != '.';
  }

  bool readBits(Operand &operand, int digits, Operand::Kind kind) {
    operand.kind = kind;
    cursor_ += 2;
    for (int i = 0; i < digits; ++i, ++cursor_) {
      const char c = *cursor_;
      if (!is(c, kHexDigit))
        return false;
      operand.bits = operand.bits << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return !is(*cursor_, kWord) && *cursor_ != '.';
  }

  const Lexer &lexer_;
  Arena &arena_;
  const char *end_;
  const char *cursor_;
  std::array<std::string_view, kMost> modifiers_;
  std::array<Operand, kMost> operands_, elements_;
};

} // namespace

/// Reads plain statements as long as there are any; the token behind them is the current one then.
void Parser::parseSimpleStatements(Function &function) {
  const char *begin = lexer_.pointerTo(token_);
  const char *lineStart = begin - (token_.column - 1);
  uint32_t line = token_.line;
  const char *done = nullptr; // behind the last statement that was taken
  const char *doneLineStart = nullptr;
  uint32_t doneLine = 0;
  SimpleReader reader(lexer_, *arena_, begin);
  for (const char *start = begin;;) {
    Instruction instruction;
    instruction.line = line;
    instruction.column = static_cast<uint32_t>(start - lineStart) + 1;
    reader.moveTo(start);
    if (!reader.readPredicate(instruction) || !reader.readWord(instruction.opcode))
      break;
    const char *behindWord = reader.cursor();
    reader.skipBlanks();
    if (*reader.cursor() == ':') {
      // A label, unless the name is that of a table: `t: .branchtargets a, b;`
      const char *next = reader.cursor() + 1;
      const char *following = skipClass(next, kBlank);
      if (*start == '@' || *following == '.' || *following == '/' || *following == ':')
        break;
      function.statements.push_back({Statement::Kind::Label, 0, instruction.opcode});
      done = next;
    } else {
      reader.moveTo(behindWord);
      if (!reader.readModifiers(instruction) || instruction.opcode == "call" || !reader.readOperands(instruction))
        break;
      done = reader.cursor();
      instruction.range = {lexer_.offsetOf(start), lexer_.offsetOf(done)};
      function.statements.push_back(
          {Statement::Kind::Instruction, static_cast<uint32_t>(function.instructions.size()), {}});
      function.instructions.push_back(instruction);
    }
    doneLine = line;
    doneLineStart = lineStart;
    start = done;
    for (;; ++start) {
      if (*start == '\n') {
        ++line;
        lineStart = start + 1;
      } else if (*start != ' ' && *start != '\t' && *start != '\r') {
        break;
      }
    }
    if (!is(*start, kWordStart) && *start != '@')
      break;
  }
  if (!done)
    return;
  lexer_.moveTo(done, doneLine, doneLineStart);
  token_.end = lexer_.offsetOf(done);
  token_.line = doneLine;
  advance();
}

} // namespace tenon::ptx
