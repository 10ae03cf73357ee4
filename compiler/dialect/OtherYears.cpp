// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the operations. The head of one is its text up to the colon before its types, in MLIR's generic form
// (`"tosa.mul"(%x, %y) {..} :`) as in its own.
#include "compiler/dialect/OtherYears.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace tenon::compiler {
namespace {

/// What tells the text of another year of one operation.
struct Respelled {
  StringRef name;
  int operands;                    // that it takes today; -1: any number
  llvm::ArrayRef<StringRef> words; // of its attributes in other years
};

constexpr StringRef kAxis[] = {"i64"}; // {axis = 0 : i64}
constexpr StringRef kClamp[] = {"min_int", "max_int", "min_fp", "max_fp"};
constexpr StringRef kValue[] = {"value"};
constexpr StringRef kQuantization[] = {"quantization_info"};

/// Of one dialect, sorted by name.
constexpr Respelled kTosa[] = {
    {"apply_scale", 3, {}},
    {"argmax", 1, kAxis},
    {"arithmetic_right_shift", 2, {}},
    {"avg_pool2d", 3, kQuantization},
    {"clamp", 1, kClamp},
    {"concat", -1, kAxis},
    {"const", 0, kValue},
    {"const_shape", 0, kValue},
    {"conv2d", 5, kQuantization},
    {"conv3d", 5, kQuantization},
    {"depthwise_conv2d", 5, kQuantization},
    {"div", 0, {}},
    {"fft2d", 2, {}},
    {"fully_connected", 0, {}},
    {"matmul", 4, kQuantization},
    {"max_pool2d", 1, {}},
    {"maximum", 2, {}},
    {"minimum", 2, {}},
    {"mul", 3, {}},
    {"negate", 3, kQuantization},
    {"pad", 3, kQuantization},
    {"reduce_all", 1, kAxis},
    {"reduce_any", 1, kAxis},
    {"reduce_max", 1, kAxis},
    {"reduce_min", 1, kAxis},
    {"reduce_prod", 0, {}},
    {"reduce_product", 1, kAxis},
    {"reduce_sum", 1, kAxis},
    {"rescale", 5, {}},
    {"reshape", 2, {}},
    {"resize", 4, {}},
    {"reverse", 1, kAxis},
    {"rfft2d", 1, {}},
    {"slice", 3, {}},
    {"tile", 2, {}},
    {"transpose", 1, {}},
    {"transpose_conv2d", 5, kQuantization},
};

bool isWordPart(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
}

class Marker {
public:
  explicit Marker(StringRef text) : text_(text) {}

  std::optional<std::string> run() {
    while (at_ < text_.size())
      step();
    return std::move(marked_);
  }

private:
  void step() {
    const char c = text_[at_];
    if (c == '/' && text_.substr(at_).starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '"') {
      const size_t end = endOfString(at_);
      if (end - at_ < kLongestName && text_.substr(end).ltrim().starts_with("("))
        visit(at_ + 1, end - 1, end, /*isGeneric=*/true);
      at_ = end;
    } else if (isWordPart(c)) {
      const size_t begin = at_;
      while (at_ < text_.size() && isWordPart(text_[at_]))
        ++at_;
      // %tosa.mul, @tosa.mul and #tosa.mul are other things.
      if (begin == 0 || !StringRef("%@#!^").contains(text_[begin - 1]))
        visit(begin, at_, at_, /*isGeneric=*/false);
    } else {
      ++at_;
    }
  }

  size_t endOfString(size_t at) const {
    for (++at; at < text_.size() && text_[at] != '"' && text_[at] != '\n'; ++at)
      if (text_[at] == '\\')
        ++at;
    return std::min(at + 1, text_.size());
  }

  struct Head {
    size_t end = 0;
    int operands = 0;
    llvm::SmallVector<StringRef> words;
    bool hasClauses = false;          // axis(0) and mode<BILINEAR>, outside of brackets
    llvm::SmallVector<size_t> angles; // of <{..}>
  };

  Head readHead(size_t at) const {
    Head head;
    int depth = 0;
    bool inProperties = false;
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '"' && depth == 0) {
        break; // no part of one
      } else if (c == '"') {
        at = endOfString(at) - 1;
      } else if (c == '/' && text_.substr(at).starts_with("//")) {
        at = std::min(text_.find('\n', at), text_.size()) - 1;
      } else if (c == ':' && depth == 0) {
        break;
      } else if (depth == 0 && text_.substr(at).starts_with("<{")) {
        head.angles.push_back(at);
        inProperties = true;
      } else if (depth == 0 && inProperties && c == '>') {
        head.angles.push_back(at);
        inProperties = false;
      } else if (c == '(' || c == '[' || c == '{' || c == '<') {
        ++depth;
      } else if (c == ')' || c == ']' || c == '}' || c == '>') {
        if (--depth < 0)
          break; // of what this is in: no head
      } else if (c == '%') {
        ++head.operands;
        while (at + 1 < text_.size() && isWordPart(text_[at + 1]))
          ++at;
      } else if (isWordPart(c)) {
        const size_t begin = at;
        while (at + 1 < text_.size() && isWordPart(text_[at + 1]))
          ++at;
        if (depth == 0 && text_.slice(begin, at + 1).contains('.'))
          break; // the next operation: this one has no types, and a text of such is read once
        head.words.push_back(text_.slice(begin, at + 1));
        head.hasClauses |= depth == 0 && at + 1 < text_.size() && (text_[at + 1] == '(' || text_[at + 1] == '<');
      }
    }
    head.end = at;
    return head;
  }

  /// The word at `begin`, in quotes or not, behind which a head may begin at `next`.
  void visit(size_t begin, size_t end, size_t next, bool isGeneric) {
    const auto [dialect, name] = text_.slice(begin, end).split('.');
    if (dialect == "tosa") {
      const auto *found = llvm::find_if(kTosa, [&](const Respelled &op) { return op.name == name; });
      if (found == std::end(kTosa))
        return;
      const Head head = readHead(next);
      const bool isOther =
          (found->operands >= 0 && head.operands != found->operands) || (!isGeneric && head.hasClauses) ||
          llvm::any_of(head.words, [&](StringRef word) { return llvm::is_contained(found->words, word); }) ||
          (llvm::is_contained(head.words, "stride") && !llvm::is_contained(head.words, "array")) || // of 2022
          (name == "pad" && !text_.slice(head.end, text_.find(')', head.end)).contains("!tosa.shape")) ||
          name == "div" || name == "fully_connected" || name == "reduce_prod";
      if (!isOther)
        return;
      mark(begin + dialect.size() + 1);
      for (size_t angle : head.angles)
        (*marked_)[angle] = ' ';
    } else if (!isGeneric && dialect == "tensor" && name == "expand_shape") {
      if (!llvm::is_contained(readHead(next).words, "output_shape"))
        mark(begin + dialect.size() + 1);
    } else if (!isGeneric && dialect == "linalg" && name == "elementwise") {
      mark(begin + dialect.size() + 1); // in today's text, too: that is read more carefully
    }
  }

  void mark(size_t at) {
    if (!marked_)
      marked_ = text_.str();
    (*marked_)[at] = llvm::toUpper((*marked_)[at]);
  }

  static constexpr size_t kLongestName = 40;
  StringRef text_;
  size_t at_ = 0;
  std::optional<std::string> marked_;
};

} // namespace

std::optional<std::string> markOtherYears(StringRef text) {
  return Marker(text).run();
}

std::string unmarkOtherYears(StringRef message) {
  std::string result = message.str();
  for (StringRef dialect : {"tosa.", "tensor.", "linalg."})
    for (size_t at = 0; (at = StringRef(result).find(dialect, at)) != StringRef::npos;)
      if ((at += dialect.size()) < result.size())
        result[at] = llvm::toLower(result[at]);
  return result;
}

} // namespace tenon::compiler
