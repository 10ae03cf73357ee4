// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over the characters, with the brackets that are open. It knows words, strings and comments, and no grammar:
// a text that is wrong is the parser's to report. `<` is an operator as well as a bracket, so a bracket that closes
// also closes the ones in it that were none.
#include "compiler/bridge/nesting.h"

#include "support/status.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tenon::compiler::bridge {
namespace {

bool isWordPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.';
}

class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<NestingMistake> run() {
    while (at_ < text_.size() && !mistake_)
      step();
    return std::move(mistake_);
  }

private:
  /// How deep what an alias stands for nests, and of how many words it is.
  struct Alias {
    size_t depth = 0, words = 0;
  };
  struct Open {
    char bracket;
    size_t operators;
  };

  char peek(size_t ahead = 1) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      onNewLine_ |= c == '\n';
      ++at_;
      return;
    }
    if (c == '/' && peek() == '/')
      return skipComment();
    if (c == '"' || c == '%' || c == '@' || isWordPart(c) || c == '#' || c == '!')
      endDefinition();
    onNewLine_ = false;
    if (c == '"')
      skipString();
    else if (c == '#' || c == '!')
      takeAlias();
    else if (isWordPart(c))
      takeWord();
    else
      takeMark(c);
  }

  void takeMark(char c) {
    const char before = before_;
    before_ = c;
    if (c == '(' || c == '[' || c == '{' || (c == '<' && peek() != '='))
      open(c, before);
    else if (c == ')' || c == ']' || c == '}' || (c == '>' && peek() != '='))
      close(c);
    else if (c == '-' && peek() == '>')
      ++at_; // an arrow
    else if (c == '+' || c == '-' || c == '*')
      countOperator();
    else if (c == ',' && !open_.empty())
      open_.back().operators = 0;
    ++at_;
  }

  /// A word on a new line begins an operation, unless the definition before it lacks something: a type behind its colon
  /// or arrow, or all.
  void endDefinition() {
    if (onNewLine_ && open_.empty() && before_ != '=' && before_ != ':' && before_ != '-')
      definition_ = {};
  }

  void skipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\')
        ++at_;
    at_ = std::min(at_ + 1, text_.size());
    before_ = '"';
    ++words_;
  }

  void skipComment() {
    // What stands between "// -----" is parsed as a text of its own (--split-input-file).
    if (text_.substr(at_).starts_with("// -----"))
      open_.clear(), aliases_.clear(), definition_ = {};
    at_ = std::min(text_.find('\n', at_), text_.size());
  }

  void takeWord() {
    const size_t begin = at_;
    at_ =
        static_cast<size_t>(std::find_if_not(text_.begin() + ptrdiff_t(at_), text_.end(), isWordPart) - text_.begin());
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "mod" || word == "floordiv" || word == "ceildiv")
      countOperator();
    before_ = 'a';
    ++words_;
    checkWords();
  }

  /// `#name` or `!name`: a definition where a single `=` follows at the outermost level, else a use.
  void takeAlias() {
    const size_t begin = at_++;
    takeWord();
    const std::string_view name = text_.substr(begin, at_ - begin);
    const size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    if (open_.empty() && text_.substr(next).starts_with('=') && !text_.substr(next).starts_with("==")) {
      definition_ = name;
      aliases_[definition_] = {};
      words_ = 0;
      at_ = next + 1;
      before_ = '=';
      return;
    }
    const auto known = aliases_.find(name);
    if (known == aliases_.end())
      return;
    words_ += known->second.words;
    reach(begin, open_.size() + known->second.depth + 1);
    checkWords();
  }

  /// Something at `depth`: what is defined nests so deep now.
  void reach(size_t offset, size_t depth) {
    if (depth > kMostNesting && !mistake_)
      mistake_ = {offset, concat("this nests more than ", kMostNesting, " deep")};
    if (!definition_.empty()) {
      Alias &alias = aliases_[definition_];
      alias.depth = std::max(alias.depth, depth);
    }
  }

  void checkWords() {
    if (!definition_.empty())
      aliases_[definition_].words = words_;
    if (words_ > kMostExpansion && !mistake_ && !definition_.empty())
      mistake_ = {at_ - 1, concat("with its aliases written out this has more than ", kMostExpansion, " words")};
  }

  void open(char bracket, char before) {
    if (bracket == '{' && open_.empty() && before != '=')
      definition_ = {}; // an operation's
    open_.push_back({bracket, 0});
    reach(at_, open_.size());
  }

  void close(char bracket) {
    const char opening = bracket == ')' ? '(' : bracket == ']' ? '[' : bracket == '}' ? '{' : '<';
    const auto match =
        std::find_if(open_.rbegin(), open_.rend(), [&](const Open &open) { return open.bracket == opening; });
    if (match != open_.rend())
      open_.erase(match.base() - 1, open_.end());
  }

  void countOperator() {
    if (open_.empty() || open_.back().bracket == '{')
      return;
    if (++open_.back().operators > kMostOperators && !mistake_)
      mistake_ = {at_, concat("this expression has more than ", kMostOperators, " operators")};
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t words_ = 0;      // of the definition
  char before_ = '\0';    // the mark before; a letter: a word
  bool onNewLine_ = true; // since that
  std::vector<Open> open_;
  std::string_view definition_; // the alias that is being defined; empty: none
  std::map<std::string_view, Alias> aliases_;
  std::optional<NestingMistake> mistake_;
};

} // namespace

std::optional<NestingMistake> findNestingMistake(std::string_view text) {
  if (text.starts_with("ML\xefR"))
    return NestingMistake{0, "this is MLIR bytecode, which is not read; write the module as text"};
  return Scanner(text).run();
}

} // namespace tenon::compiler::bridge
