// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The header of a module, which says how all behind it is to be read:
//
//   .version 9.0
//   .target sm_90a, debug
//   .address_size 64
#include "ptx/parse/parser_state.h"

#include <utility>

namespace tenon::ptx {

/// Reports, once, that something comes before the header or that the file ends without one. A header that was there
/// but wrong has been reported already.
void Parser::checkHeader() {
  if (headerReported_ || (module_.isa != 0 && module_.target.number != 0))
    return;
  headerReported_ = true;
  fail("P-6", "found " + describe() + " before a " + (module_.isa == 0 ? "'.version'" : "'.target'"),
       "a PTX file begins: .version 8.0  .target sm_80  .address_size 64");
}

bool Parser::parseVersion() {
  Token begin = token_;
  if (module_.isa != 0)
    return fail("P-6", "found a second '.version'", "one file holds one module: pass the parts as separate objects");
  advance();
  std::string_view number = lexer_.spelling(token_);
  auto digit = [&](size_t i) { return i < number.size() && number[i] >= '0' && number[i] <= '9'; };
  size_t dot = number.size() < 2 ? 0 : number.size() - 2; // one digit stands behind it
  if (!at(TokenKind::Float64) || dot < 1 || dot > 2 || !digit(0) || !digit(dot - 1) || number[0] == '0' ||
      number[dot] != '.' || !digit(dot + 1)) {
    headerReported_ = true;
    return fail("P-6", "found " + describe() + ", expected a version", "write it as in '.version 8.0'");
  }
  int major = number[0] - '0';
  if (dot == 2)
    major = 10 * major + (number[1] - '0');
  module_.isa = static_cast<uint16_t>(10 * major + (number[dot + 1] - '0'));
  module_.versionAt = locate(begin);
  advance();
  return true;
}

bool Parser::parseTarget() {
  Token begin = token_;
  if (module_.target.number != 0)
    return fail("P-6", "found a second '.target'", "list options after the first: .target sm_80, debug");
  if (module_.isa == 0)
    checkHeader();
  advance();
  bool reported = std::exchange(headerReported_, true); // until an architecture is read
  do {
    Token name = token_;
    std::string_view word;
    if (!parseName(word, "an architecture like 'sm_80'"))
      return false;
    if (!word.starts_with("sm_") && !word.starts_with("compute_")) {
      module_.targetOptions.push_back(word);
      continue;
    }
    std::optional<abi::TargetArch> arch = word.starts_with("sm_") ? abi::parseTargetArch(word) : std::nullopt;
    if (!arch)
      return failAt(name, "P-6", "found " + quoteText(word) + ", expected an architecture like 'sm_80' or 'sm_90a'");
    if (module_.target.number != 0)
      return failAt(name, "P-6", "found a second architecture, " + quoteText(word), "name one architecture per file");
    module_.target = *arch;
    module_.targetAt = locate(begin);
  } while (accept(TokenKind::Comma));
  headerReported_ = reported;
  return true;
}

bool Parser::parseAddressSize() {
  Token begin = token_;
  advance();
  if (!at(TokenKind::Integer) || (token_.bits != 32 && token_.bits != 64))
    return fail("P-6", "found " + describe() + ", expected 64 (or 32) bits of address");
  module_.addressSize = static_cast<uint32_t>(token_.bits);
  module_.addressSizeAt = locate(begin);
  advance();
  return true;
}

} // namespace tenon::ptx
