// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes of characters, and where a word ends. The text is followed by a NUL, which is in no class, so that loops over
// a class need no bounds checks.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tenon::ptx {

enum : uint8_t {
  kWordStart = 1, // a-z A-Z _ $ %
  kWord = 2,      // a-z A-Z 0-9 _ $
  kDigit = 4,
  kHexDigit = 8,
  kBlank = 16,   // space, tab, form feed, vertical tab, carriage return, line feed
  kOddName = 32, // names that begin so may be none: _ WARP_SZ
};

constexpr std::array<uint8_t, 256> makeClasses() {
  std::array<uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) {
    table[c] |= kWordStart | kWord;
    table[c - 'a' + 'A'] |= kWordStart | kWord;
  }
  for (int c = '0'; c <= '9'; ++c)
    table[c] |= kWord | kDigit | kHexDigit;
  for (int c = 'a'; c <= 'f'; ++c) {
    table[c] |= kHexDigit;
    table[c - 'a' + 'A'] |= kHexDigit;
  }
  table['_'] |= kWordStart | kWord;
  table['$'] |= kWordStart | kWord;
  table['%'] |= kWordStart;
  table['_'] |= kOddName;
  table['W'] |= kOddName;
  for (unsigned char c : {' ', '\t', '\f', '\v', '\r', '\n'})
    table[c] |= kBlank;
  return table;
}
inline constexpr std::array<uint8_t, 256> kClasses = makeClasses();

inline bool is(char c, uint8_t classes) {
  return kClasses[static_cast<unsigned char>(c)] & classes;
}

inline const char *skipClass(const char *p, uint8_t classes) {
  while (is(*p, classes))
    ++p;
  return p;
}

// Words are short and of any length, which a processor's branch prediction cannot learn: so 16 characters are looked at
// together. Bit i of a mask: character i.
#if defined(__SSE2__)
struct Characters16 {
  explicit Characters16(const char *p) : bytes(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))) {}
  __m128i equal(char c) const { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
  // Signed comparisons of bytes: what is wanted is moved to the lowest values there are.
  static __m128i below(__m128i value, char first, char count) {
    return _mm_cmplt_epi8(_mm_add_epi8(value, _mm_set1_epi8(static_cast<char>(-128 - first))),
                          _mm_set1_epi8(static_cast<char>(-128 + count)));
  }
  __m128i digit() const { return below(bytes, '0', 10); }
  __m128i word(__m128i digits) const {
    return digits | below(bytes | _mm_set1_epi8(0x20), 'a', 26) | equal('_') | equal('$');
  }
  static uint32_t mask(__m128i set) { return static_cast<uint32_t>(_mm_movemask_epi8(set)); }
  __m128i bytes;
};
#endif

/// Words that begin like names and are none: nothing may be called so.
inline bool isNoName(std::string_view word) {
  return word == "_" || word == "WARP_SZ";
}

/// Where the `//` comment at `p` ends: at a line end, a NUL, or `end`.
inline const char *lineCommentEnd(const char *p, const char *end) {
  const void *newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
  const char *behind = newline ? static_cast<const char *>(newline) : end;
  const void *nul = std::memchr(p, '\0', static_cast<size_t>(behind - p));
  return nul ? static_cast<const char *>(nul) : behind;
}

/// The first character at or behind `p` that is not in kWord. `end` is where the text ends.
inline const char *wordEnd(const char *p, const char *end) {
#if defined(__SSE2__)
  for (; end - p >= 16; p += 16) {
    const Characters16 characters(p);
    const uint32_t inWord = Characters16::mask(characters.word(characters.digit()));
    if (inWord != 0xffff)
      return p + std::countr_one(inWord);
  }
#else
  (void)end;
#endif
  return skipClass(p, kWord);
}

/// The first character behind the word that begins at `p` with one of kWordStart, and how many digits it ends in.
inline const char *wordEnd(const char *p, const char *end, size_t &digits) {
#if defined(__SSE2__)
  if (end - p > 16) {
    const Characters16 characters(p + 1);
    const __m128i digit = characters.digit();
    const uint32_t inWord = Characters16::mask(characters.word(digit));
    if (inWord != 0xffff) [[likely]] {
      const int length = std::countr_one(inWord);
      const uint32_t others = ~Characters16::mask(digit) & ((1u << length) - 1);
      digits = static_cast<size_t>(length - std::bit_width(others));
      return p + 1 + length;
    }
  }
#endif
  const char *begin = p + 1, *behind = wordEnd(begin, end);
  digits = 0;
  while (behind - digits > begin && is(behind[-1 - static_cast<ptrdiff_t>(digits)], kDigit))
    ++digits;
  return behind;
}

/// The first character at or behind `p` that is a blank, another control character, not ASCII, or a semicolon: where
/// `ld.shared::cta.f32` ends, if it is well written.
inline const char *spellingEnd(const char *p, const char *end) {
#if defined(__SSE2__)
  for (; end - p >= 16; p += 16) {
    const Characters16 characters(p);
    const __m128i blank = _mm_cmplt_epi8(characters.bytes, _mm_set1_epi8(' ' + 1));
    if (const uint32_t ends = Characters16::mask(blank | characters.equal(';')))
      return p + std::countr_zero(ends);
  }
#else
  (void)end;
#endif
  while (static_cast<signed char>(*p) > ' ' && *p != ';')
    ++p;
  return p;
}

/// The number of 8 decimal digits, the last one in the highest byte.
inline uint32_t numberOf(uint64_t digits) {
  constexpr uint64_t kPairs = 0x000000ff000000ff;
  digits = digits * 10 + (digits >> 8); // pairs, in every second byte
  return static_cast<uint32_t>(((digits & kPairs) * (100 + (uint64_t(1000000) << 32)) +
                                (digits >> 16 & kPairs) * (1 + (uint64_t(10000) << 32))) >>
                               32);
}

/// The number that the `digits` characters before `end` are: 1 to 8, and 8 bytes must be readable there.
inline uint32_t numberBefore(const char *end, size_t digits) {
  if constexpr (std::endian::native == std::endian::little) {
    uint64_t bytes;
    std::memcpy(&bytes, end - 8, 8);
    const unsigned others = static_cast<unsigned>(64 - 8 * digits);
    return numberOf((bytes >> others << others) & 0x0f0f0f0f0f0f0f0f);
  } else {
    uint32_t number = 0;
    for (const char *p = end - digits; p != end; ++p)
      number = number * 10 + static_cast<uint32_t>(*p - '0');
    return number;
  }
}

/// A register as compilers name it: `%`, one or two letters, at most five digits, 8 characters with the one behind.
struct ShortName {
  uint32_t size = 0; // 0: it is none
  uint32_t stemSize = 0;
  uint32_t number = 0;
};

/// Reads 8 bytes. `p` stands at `%`.
inline ShortName shortNameAt(const char *p) {
  if constexpr (std::endian::native == std::endian::little) {
    constexpr uint64_t kHigh = 0x8080808080808080;
    uint64_t bytes;
    std::memcpy(&bytes, p, 8);
    // 0x80 in every byte that is no digit; nothing is carried from byte to byte.
    const uint64_t values = bytes ^ 0x3030303030303030;
    const uint64_t others = ((values & ~kHigh) + 0x7676767676767676 | values) & kHigh;
    const int stem = std::countr_zero(~others & kHigh) & ~7; // bits before the first digit; 64: there is none
    if ((stem != 16 && stem != 24) || !(is(p[1], kWord) && is(p[(stem >> 3) - 1], kWord)))
      return {};
    const int digits = std::countr_zero(others >> stem) & ~7; // bits of the number, 64: it goes on
    const int size = stem + digits;
    if (size >= 64 || is(p[size >> 3], kWord))
      return {};
    const uint32_t number = numberOf(values << (64 - size) >> (64 - digits) << (64 - digits));
    return {static_cast<uint32_t>(size) >> 3, static_cast<uint32_t>(stem) >> 3, number};
  } else {
    return {};
  }
}

/// The end of the dotted word that begins at the dot `p`: `.f32`, `.L2::128B`.
inline const char *dottedEnd(const char *p, const char *end) {
  p = wordEnd(p + 1, end);
  while (p[0] == ':' && p[1] == ':' && is(p[2], kWord))
    p = wordEnd(p + 2, end);
  return p;
}

} // namespace tenon::ptx
