// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes a value apart into fields of a few bits, sends each through channels and puts them together. No other bit of
// the value goes around the channels, so what the proof makes of a channel is what it makes of the value.
#include "tests/proof/launder.h"

#include <algorithm>

namespace tenon::proof {
namespace {

constexpr uint32_t kAddressBits = 48; // of a buffer's address; the rest are zeros

/// A shift count: a number, or a register of a loop.
struct Place {
  uint32_t at = 0;
  std::string counter; // b32; empty: `at`
  std::string text() const { return counter.empty() ? std::to_string(at) : counter; }
};

/// `bits` of `value` from a place on, as b32.
std::string takeField(Body &b, const std::string &value, const Place &place, uint32_t bits) {
  const uint64_t mask = (uint64_t(1) << bits) - 1;
  const bool isFixed = place.counter.empty();
  std::string field = b.r32(), t = b.r64(), u = b.r64();
  switch (b.random.below(isFixed ? 11 : 5)) {
  case 0:
    b.line("shr.u64 ", t, ", ", value, ", ", place.text(), ";");
    b.line("and.b64 ", u, ", ", t, ", ", mask, ";");
    b.line("cvt.u32.u64 ", field, ", ", u, ";");
    break;
  case 1:
    b.line("bfe.u64 ", t, ", ", value, ", ", place.text(), ", ", bits, ";");
    b.line("cvt.u32.u64 ", field, ", ", t, ";");
    break;
  case 2: {
    std::string word = b.r32();
    b.line("shr.u64 ", t, ", ", value, ", ", place.text(), ";");
    b.line("cvt.u32.u64 ", word, ", ", t, ";");
    b.line("bfe.u32 ", field, ", ", word, ", 0, ", bits, ";");
    break;
  }
  case 3:
    b.line("shr.u64 ", t, ", ", value, ", ", place.text(), ";");
    b.line("rem.u64 ", u, ", ", t, ", ", mask + 1, ";");
    b.line("cvt.u32.u64 ", field, ", ", u, ";");
    break;
  case 4: {
    std::string all = b.r32(), narrow = b.r32();
    b.line("shr.u64 ", t, ", ", value, ", ", place.text(), ";");
    b.line("cvt.u32.u64 ", all, ", ", t, ";");
    b.line("mov.u32 ", narrow, ", ", mask, ";");
    b.line("lop3.b32 ", field, ", ", all, ", ", narrow, ", 0, 0xC0;");
    break;
  }
  case 5: {
    b.line("and.b64 ", t, ", ", value, ", ", mask << place.at, ";");
    b.line("shr.u64 ", u, ", ", t, ", ", place.at, ";");
    b.line("cvt.u32.u64 ", field, ", ", u, ";");
    break;
  }
  case 6: { // what two shifts differ in
    std::string above = b.r64(), back = b.r64(), d = b.r64();
    b.line("shr.u64 ", t, ", ", value, ", ", place.at, ";");
    b.line("shr.u64 ", above, ", ", value, ", ", place.at + bits, ";");
    b.line("shl.b64 ", back, ", ", above, ", ", bits, ";");
    b.line("sub.u64 ", d, ", ", t, ", ", back, ";");
    b.line("cvt.u32.u64 ", field, ", ", d, ";");
    break;
  }
  case 7:
    b.line("shl.b64 ", t, ", ", value, ", ", 64 - bits - place.at, ";");
    b.line("shr.u64 ", u, ", ", t, ", ", 64 - bits, ";");
    b.line("cvt.u32.u64 ", field, ", ", u, ";");
    break;
  case 8: { // by its half, or from where two meet
    std::string low = b.r32(), high = b.r32(), word = b.r32();
    b.line("mov.b64 {", low, ", ", high, "}, ", value, ";");
    if (place.at >= 32)
      b.line("shr.u32 ", word, ", ", high, ", ", place.at - 32, ";");
    else
      b.line("shf.r.wrap.b32 ", word, ", ", low, ", ", high, ", ", place.at, ";");
    b.line("and.b32 ", field, ", ", word, ", ", mask, ";");
    break;
  }
  case 9: {
    std::string narrow = b.r16(), wide = b.r32();
    b.line("shr.u64 ", t, ", ", value, ", ", place.at, ";");
    b.line("cvt.u16.u64 ", narrow, ", ", t, ";");
    b.line("cvt.u32.u16 ", wide, ", ", narrow, ";");
    b.line("and.b32 ", field, ", ", wide, ", ", mask, ";");
    break;
  }
  default: {
    std::string word = b.r32();
    if (place.at == 0)
      b.line("mov.b64 ", t, ", ", value, ";");
    else
      b.line("mul.hi.u64 ", t, ", ", value, ", ", uint64_t(1) << (64 - place.at), ";");
    b.line("cvt.u32.u64 ", word, ", ", t, ";");
    b.line("and.b32 ", field, ", ", word, ", ", mask, ";");
  }
  }
  return field;
}

/// Puts a field into the sum.
void putField(Body &b, const std::string &sum, const std::string &field, const Place &place, uint32_t bits) {
  std::string wide = b.r64(), t = b.r64();
  b.line("cvt.u64.u32 ", wide, ", ", field, ";");
  switch (b.random.below(4)) {
  case 0:
    b.line("bfi.b64 ", sum, ", ", wide, ", ", sum, ", ", place.text(), ", ", bits, ";");
    break;
  case 1:
    if (place.counter.empty()) {
      b.line("mad.lo.u64 ", sum, ", ", wide, ", ", uint64_t(1) << place.at, ", ", sum, ";");
      break;
    }
    [[fallthrough]];
  default:
    b.line("shl.b64 ", t, ", ", wide, ", ", place.text(), ";");
    b.line(b.random.one({"or.b64 ", "add.s64 ", "xor.b64 ", "add.u64 "}), sum, ", ", sum, ", ", t, ";");
  }
}

} // namespace

std::string launderFields(Body &b, const Ways &ways, const std::string &value, uint32_t firstBit, uint32_t &used,
                          std::string &names) {
  std::string sum = b.r64();
  b.line("mov.u64 ", sum, ", 0;");
  const Channel &channel = ways.channel(b.random);
  used |= maskOf(channel.kind);
  names += concat(names.empty() ? "" : " ", channel.name);
  const uint32_t bits = std::max(1u, std::min(12u, channel.mostBits - b.random.below(3) % channel.mostBits));
  // A loop, or the same text for each field; long texts take long.
  if (b.random.chance(bits < 4 ? 85 : 40)) {
    std::string counter = b.r32(), p = b.pred(), loop = b.label();
    b.line("mov.u32 ", counter, ", ", firstBit, ";");
    b.line(loop, ":");
    const Place place = {0, counter};
    std::string field = takeField(b, value, place, bits);
    putField(b, sum, channel.go(b, field, bits), place, bits);
    b.line("add.u32 ", counter, ", ", counter, ", ", bits, ";");
    b.line("setp.lt.u32 ", p, ", ", counter, ", ", kAddressBits, ";");
    b.line("@", p, " bra ", loop, ";");
    return sum;
  }
  const bool isMixed = bits >= 4 && b.random.chance(30); // another channel for each field
  for (uint32_t at = firstBit; at < kAddressBits;) {
    const Channel &taken = isMixed ? ways.channel(b.random) : channel;
    const uint32_t width = std::min({12u, taken.mostBits, bits, kAddressBits - at});
    if (isMixed) {
      used |= maskOf(taken.kind);
      names += concat(" ", taken.name);
    }
    const Place place = {at, ""};
    std::string field = takeField(b, value, place, width);
    putField(b, sum, taken.go(b, field, width), place, width);
    at += width;
  }
  return sum;
}

} // namespace tenon::proof
