// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recursive descent: sum -> product -> factor. Collecting names is the same walk with a value for every name.
#include "runtime/tools/check_kernel/size_expression.h"

#include <algorithm>
#include <charconv>

namespace tenon::runtime {
namespace {

constexpr int kMaxDepth = 64;

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Evaluator {
public:
  Evaluator(std::string_view text, const Sizes *sizes, std::set<std::string> *names)
      : text_(text), sizes_(sizes), names_(names) {}

  Result<int64_t> run() {
    TENON_ASSIGN_OR_RETURN(int64_t value, sum(0));
    if (skipSpace() < text_.size())
      return wrong(concat("unexpected '", text_.substr(at_), "'"));
    return value;
  }

private:
  Status wrong(std::string_view what) const { return makeError(StatusCode::InvalidArgument, "'", text_, "': ", what); }
  Status tooLarge() const { return makeError(StatusCode::OutOfRange, "'", text_, "' does not fit 63 bits"); }

  size_t skipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
    return at_;
  }
  bool take(char c) {
    if (skipSpace() == text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }

  Result<int64_t> sum(int depth) {
    TENON_ASSIGN_OR_RETURN(int64_t left, product(depth));
    while (true) {
      const bool adds = take('+');
      if (!adds && !take('-'))
        return left;
      TENON_ASSIGN_OR_RETURN(int64_t right, product(depth));
      if (adds ? __builtin_add_overflow(left, right, &left) : __builtin_sub_overflow(left, right, &left))
        return tooLarge();
    }
  }

  Result<int64_t> product(int depth) {
    TENON_ASSIGN_OR_RETURN(int64_t left, factor(depth));
    while (true) {
      const bool multiplies = take('*');
      if (!multiplies && !take('/'))
        return left;
      TENON_ASSIGN_OR_RETURN(int64_t right, factor(depth));
      if (multiplies && __builtin_mul_overflow(left, right, &left))
        return tooLarge();
      if (!multiplies) {
        TENON_ASSIGN_OR_RETURN(left, divide(left, right));
      }
    }
  }

  /// Rounds down. While names are collected a divisor has no value yet.
  Result<int64_t> divide(int64_t left, int64_t right) const {
    if (right <= 0 || left < 0)
      return names_ ? Result<int64_t>(1) : Result<int64_t>(wrong(concat("division of ", left, " by ", right)));
    return left / right;
  }

  Result<int64_t> factor(int depth) {
    if (depth > kMaxDepth)
      return wrong("nested too deep");
    if (take('(')) {
      TENON_ASSIGN_OR_RETURN(int64_t value, sum(depth + 1));
      if (!take(')'))
        return wrong("'(' without ')'");
      return value;
    }
    const size_t start = skipSpace();
    while (at_ < text_.size() && isLetter(text_[at_]))
      ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name.empty())
      return number();
    return take('(') ? call(name, depth) : valueOf(name);
  }

  Result<int64_t> number() {
    const bool negative = take('-');
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range)
      return tooLarge();
    if (error != std::errc())
      return wrong(at_ == text_.size() ? "a number or a name is missing at its end"
                                       : concat("a number or a name is missing before '", text_.substr(at_), "'"));
    at_ = size_t(end - text_.data());
    return negative ? -value : value;
  }

  Result<int64_t> valueOf(std::string_view name) const {
    if (names_) {
      names_->insert(std::string(name));
      return int64_t(1);
    }
    auto found = sizes_->find(name);
    if (found == sizes_->end())
      return wrong(concat("'", name, "' has no value: add --size=", name, "=1,31,32"));
    return found->second;
  }

  Result<int64_t> call(std::string_view name, int depth) {
    TENON_ASSIGN_OR_RETURN(int64_t a, sum(depth + 1));
    if (!take(','))
      return wrong(concat(name, " takes two values"));
    TENON_ASSIGN_OR_RETURN(int64_t b, sum(depth + 1));
    if (!take(')'))
      return wrong("'(' without ')'");
    if (name == "min")
      return std::min(a, b);
    if (name == "max")
      return std::max(a, b);
    if (name != "ceildiv")
      return wrong(concat("there is no function '", name, "'; there are ceildiv, min and max"));
    if (b > 0 && __builtin_add_overflow(a, b - 1, &a))
      return tooLarge();
    return divide(a, b);
  }

  std::string_view text_;
  const Sizes *sizes_;
  std::set<std::string> *names_; // set: only names are wanted
  size_t at_ = 0;
};

} // namespace

Result<int64_t> evaluateSize(std::string_view text, const Sizes &sizes) {
  return Evaluator(text, &sizes, nullptr).run();
}

Status collectNames(std::string_view text, std::set<std::string> &names) {
  Result<int64_t> value = Evaluator(text, nullptr, &names).run();
  return value.ok() ? okStatus() : value.takeStatus();
}

} // namespace tenon::runtime
