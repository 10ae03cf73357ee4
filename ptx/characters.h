// Classes of characters, and where a word ends. The text is followed by a NUL, which is in no class, so that loops over
// a class need no bounds checks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tenon::ptx {

enum : uint8_t {
  kWordStart = 1, // a-z A-Z _ $ %
  kWord = 2,      // a-z A-Z 0-9 _ $
  kDigit = 4,
  kHexDigit = 8,
  kBlank = 16, // space, tab, form feed, vertical tab, carriage return, line feed
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

/// The first character at or behind `p` that is not in kWord. Words are short and of any length, which a processor's
/// branch prediction cannot learn: so 16 characters are looked at together. `end` is where the text ends.
inline const char *wordEnd(const char *p, const char *end) {
#if defined(__SSE2__)
  // Signed comparisons of bytes: what is wanted is moved to the lowest values there are.
  auto below = [](__m128i value, char first, char count) {
    return _mm_cmplt_epi8(_mm_add_epi8(value, _mm_set1_epi8(static_cast<char>(-128 - first))),
                          _mm_set1_epi8(static_cast<char>(-128 + count)));
  };
  for (; end - p >= 16; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
    const __m128i letter = below(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
    const __m128i digit = below(bytes, '0', 10);
    const __m128i sign =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('$')));
    const auto inWord = static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letter, digit), sign)));
    if (inWord != 0xffff)
      return p + std::countr_one(inWord);
  }
#else
  (void)end;
#endif
  return skipClass(p, kWord);
}

/// The end of the dotted word that begins at the dot `p`: `.f32`, `.L2::128B`.
inline const char *dottedEnd(const char *p, const char *end) {
  p = wordEnd(p + 1, end);
  while (p[0] == ':' && p[1] == ':' && is(p[2], kWord))
    p = wordEnd(p + 2, end);
  return p;
}

} // namespace tenon::ptx
