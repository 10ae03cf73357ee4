// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of PTX. A token is a kind, a byte range and a place; its spelling is read back from the source text.
//
// One lexical rule shapes all others: a dot begins a word. `ld.global.L2::128B.v4.f32` is one identifier and four
// dotted words, `.visible .entry` two dotted words, `%tid.x` an identifier with a dotted word glued to it. Dotted words
// may start with a digit (`.2d`) and hold `::` (`.shared::cta`), which identifiers may not.
#pragma once

#include <cstdint>

namespace tenon::ptx {

enum class TokenKind : uint8_t {
  End,
  Identifier, // add, %r1, $L__BB0_2, _, sm_90a
  Dotted,     // .visible, .f32, .L2::128B: begins at the dot
  Integer,    // `bits`
  Float32,    // 0f........: `bits`
  Float64,    // 0d................ or 1.5e3: `bits`
  String,     // "...": begins and ends at the quotes
  Comma,
  Semicolon,
  Colon,
  LeftParen,
  RightParen,
  LeftBracket,
  RightBracket,
  LeftBrace,
  RightBrace,
  Less,
  Greater,
  LessEqual,
  GreaterEqual,
  ShiftLeft,
  ShiftRight,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Tilde,
  Exclaim,
  Equal,
  EqualEqual,
  ExclaimEqual,
  Pipe,
  PipePipe,
  Ampersand,
  AmpersandAmpersand,
  Caret,
  Question,
  At,
};

struct Token {
  TokenKind kind = TokenKind::End;
  bool isUnsigned = false; // Integer: a U suffix, or a value above 2^63 - 1
  uint32_t begin = 0;      // bytes [begin, end) of the source text
  uint32_t end = 0;
  uint32_t line = 0; // from 1
  uint32_t column = 0;
  uint64_t bits = 0; // Integer, Float32, Float64
};

} // namespace tenon::ptx
