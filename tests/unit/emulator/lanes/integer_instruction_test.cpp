// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic, shifts and bit fields, of 16, 32 and 64 bits.
#include "tests/unit/emulator/instruction_testing.h"

#include <algorithm>

namespace tenon::emulator::test {
namespace {

TEST(EmulatorInstruction, IntegerArithmetic) {
  Session session;
  const Case cases[] = {
      {"add.s32 %r, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
      {"add.sat.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         int64_t v = s(a) + s(b);
         return static_cast<uint32_t>(std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, v)));
       }},
      {"sub.sat.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         int64_t v = s(a) - s(b);
         return static_cast<uint32_t>(std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, v)));
       }},
      {"mul.hi.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return static_cast<uint32_t>(s(a) * s(b) >> 32); }},
      {"mul.hi.u32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return static_cast<uint32_t>(uint64_t(a) * b >> 32); }},
      {"mul24.lo.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         return static_cast<uint32_t>(int64_t(int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8));
       }},
      {"mul24.hi.u32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         return static_cast<uint32_t>(uint64_t(a & 0xffffff) * (b & 0xffffff) >> 16);
       }},
      {"mad.lo.s32 %r, %w0, %w1, %w2;", [](uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }},
      {"mad.hi.u32 %r, %w0, %w1, %w2;",
       [](uint32_t a, uint32_t b, uint32_t c) { return static_cast<uint32_t>(uint64_t(a) * b >> 32) + c; }},
      {"sad.s32 %r, %w0, %w1, %w2;",
       [](uint32_t a, uint32_t b, uint32_t c) { return static_cast<uint32_t>(std::abs(s(a) - s(b))) + c; }},
      {"div.u32 %r, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return b ? a / b : 0xffffffffu; }},
      {"div.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return b ? static_cast<uint32_t>(s(a) / s(b)) : 0xffffffffu; }},
      {"rem.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return b ? static_cast<uint32_t>(s(a) % s(b)) : 0xffffffffu; }},
      {"min.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return static_cast<uint32_t>(std::min(s(a), s(b))); }},
      {"max.u32 %r, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return std::max(a, b); }},
      {"abs.s32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(std::abs(s(a))); }},
      {"neg.s32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return 0 - a; }},
      {"add.cc.u32 %z, %w0, %w1; addc.u32 %r, %w2, 0;",
       [](uint32_t a, uint32_t b, uint32_t c) { return c + (uint64_t(a) + b > 0xffffffffu); }},
      {"sub.cc.u32 %z, %w0, %w1; subc.u32 %r, %w2, 0;", [](uint32_t a, uint32_t b, uint32_t c) { return c - (a < b); }},
      // The carry of a difference is that of a + ~b + 1 (ptxas 13.0 makes IADD3 and IADD3.X of these).
      {"sub.cc.u32 %z, %w0, %w1; addc.u32 %r, %w2, 0;",
       [](uint32_t a, uint32_t b, uint32_t c) { return c + (a >= b); }},
      {"add.cc.u32 %z, %w0, %w1; subc.u32 %r, %w2, 0;",
       [](uint32_t a, uint32_t b, uint32_t c) { return c - (uint64_t(a) + b <= 0xffffffffu); }},
      {"mad.lo.cc.u32 %z, %w0, %w1, %w2; madc.hi.u32 %r, %w0, %w1, 0;",
       [](uint32_t a, uint32_t b, uint32_t c) { return static_cast<uint32_t>((uint64_t(a) * b + c) >> 32); }},
  };
  for (const Case &c : cases)
    checkWords(c.body, pairs(kWords), c.want);
}

TEST(EmulatorInstruction, ShiftsAndBitFields) {
  Session session;
  auto extract = [](uint32_t a, uint32_t p, uint32_t n, bool isSigned) {
    p &= 255, n &= 255;
    uint32_t sign = isSigned && n ? a >> std::min(p + n - 1, 31u) & 1 : 0, d = 0;
    for (uint32_t i = 0; i < 32; ++i)
      d |= (i < n && p + i <= 31 ? a >> (p + i) & 1 : sign) << i;
    return d;
  };
  const Case cases[] = {
      {"shl.b32 %r, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return b > 31 ? 0 : a << b; }},
      {"shr.u32 %r, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return b > 31 ? 0 : a >> b; }},
      {"shr.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return static_cast<uint32_t>(s(a) >> std::min(b, 31u)); }},
      {"shf.l.wrap.b32 %r, %w0, %w1, %w2;",
       [](uint32_t a, uint32_t b, uint32_t c) {
         return static_cast<uint32_t>((uint64_t(b) << 32 | a) << (c & 31) >> 32);
       }},
      {"shf.r.clamp.b32 %r, %w0, %w1, %w2;",
       [](uint32_t a, uint32_t b, uint32_t c) {
         return static_cast<uint32_t>((uint64_t(b) << 32 | a) >> std::min(c, 32u));
       }},
      {"shf.l.clamp.b32 %r, %w0, %w1, %w2;",
       [](uint32_t a, uint32_t b, uint32_t c) {
         return c >= 32 ? a : static_cast<uint32_t>((uint64_t(b) << 32 | a) << c >> 32);
       }},
      {"bfe.u32 %r, %w0, %w1, %w2;", [&](uint32_t a, uint32_t b, uint32_t c) { return extract(a, b, c, false); }},
      {"bfe.s32 %r, %w0, %w1, %w2;", [&](uint32_t a, uint32_t b, uint32_t c) { return extract(a, b, c, true); }},
      {"bfi.b32 %r, %w0, %w2, %w1, 7;",
       [](uint32_t a, uint32_t b, uint32_t c) {
         uint32_t d = c;
         for (uint32_t i = 0; i < 7; ++i)
           if ((b & 255) + i <= 31)
             d = (d & ~(1u << ((b & 255) + i))) | (a >> i & 1) << ((b & 255) + i);
         return d;
       }},
      {"popc.b32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(std::popcount(a)); }},
      {"clz.b32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(std::countl_zero(a)); }},
      {"bfind.u32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return a ? 31 - static_cast<uint32_t>(std::countl_zero(a)) : ~0u; }},
      {"bfind.shiftamt.s32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) {
         uint32_t v = s(a) < 0 ? ~a : a;
         return v ? static_cast<uint32_t>(std::countl_zero(v)) : ~0u;
       }},
      {"lop3.b32 %r, %w0, %w1, %w2, 0xca;", [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); }},
      {"lop3.b32 %r, %w0, %w1, %w2, 0x96;", [](uint32_t a, uint32_t b, uint32_t c) { return a ^ b ^ c; }},
      {"prmt.b32 %r, %w0, %w1, 0x9c40;",
       [](uint32_t a, uint32_t b, uint32_t) {
         uint64_t v = uint64_t(b) << 32 | a;
         auto sign = [&](int n) { return v >> (8 * n + 7) & 1 ? 0xffu : 0u; };
         return static_cast<uint32_t>(v & 255) | static_cast<uint32_t>(v >> 32 & 255) << 8 | sign(4) << 16 |
                sign(1) << 24;
       }},
      {"cnot.b32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return a == 0 ? 1u : 0u; }},
      {"szext.clamp.s32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         return b >= 32 ? a : b == 0 ? 0 : static_cast<uint32_t>(int32_t(a << (32 - b)) >> (32 - b));
       }},
      {"bmsk.clamp.b32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         uint32_t d = 0;
         for (uint64_t i = a; i < uint64_t(a) + b && i < 32; ++i)
           d |= 1u << i;
         return d;
       }},
      {"dp4a.s32.s32 %r, %w0, %w1, %w2;",
       [](uint32_t a, uint32_t b, uint32_t c) {
         for (int i = 0; i < 4; ++i)
           c += static_cast<uint32_t>(int8_t(a >> 8 * i) * int8_t(b >> 8 * i));
         return c;
       }},
      {"dp2a.hi.u32.u32 %r, %w0, %w1, %w2;",
       [](uint32_t a, uint32_t b, uint32_t c) { return c + (a & 0xffff) * (b >> 16 & 255) + (a >> 16) * (b >> 24); }},
  };
  for (const Case &c : cases)
    checkWords(c.body, pairs(kWords), c.want);
}

TEST(EmulatorInstruction, SixteenAndSixtyFourBits) {
  Session session;
  Inputs inputs;
  for (uint64_t a : {uint64_t(0), uint64_t(1), uint64_t(0x8000000000000000), uint64_t(0x7fffffffffffffff), ~uint64_t(0),
                     uint64_t(0x123456789abcdef0)})
    for (uint64_t b : {uint64_t(0), uint64_t(3), uint64_t(64), uint64_t(0x8000000000000000), ~uint64_t(0),
                       uint64_t(0xfedcba9876543210)})
      inputs.push_back({a, b, a ^ (b << 7)});
  struct Wide {
    const char *body;
    std::function<uint64_t(uint64_t, uint64_t, uint64_t)> want;
  };
  const Wide cases[] = {
      {"mul.hi.u64 %d, %a0, %a1;",
       [](uint64_t a, uint64_t b, uint64_t) {
         return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
       }},
      {"mul.hi.s64 %d, %a0, %a1;",
       [](uint64_t a, uint64_t b, uint64_t) {
         return static_cast<uint64_t>(static_cast<__int128>(int64_t(a)) * int64_t(b) >> 64);
       }},
      {"mad.lo.s64 %d, %a0, %a1, %a2;", [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }},
      {"div.s64 %d, %a0, %a1;",
       [](uint64_t a, uint64_t b, uint64_t) {
         return b == 0 ? ~0ull : b == ~0ull ? 0 - a : static_cast<uint64_t>(int64_t(a) / int64_t(b));
       }},
      {"rem.u64 %d, %a0, %a1;", [](uint64_t a, uint64_t b, uint64_t) { return b ? a % b : ~0ull; }},
      {"shl.b64 %d, %a0, %w1;",
       [](uint64_t a, uint64_t b, uint64_t) { return uint32_t(b) > 63 ? 0 : a << uint32_t(b); }},
      {"shr.s64 %d, %a0, %w1;",
       [](uint64_t a, uint64_t b, uint64_t) {
         return static_cast<uint64_t>(int64_t(a) >> std::min(uint32_t(b), 63u));
       }},
      {"mad.wide.s32 %d, %w0, %w1, %a2;",
       [](uint64_t a, uint64_t b, uint64_t c) { return static_cast<uint64_t>(s(uint32_t(a)) * s(uint32_t(b))) + c; }},
      {"mul.wide.u16 %r, %h0, %h1; cvt.u64.u32 %d, %r;",
       [](uint64_t a, uint64_t b, uint64_t) { return (a & 0xffff) * (b & 0xffff); }},
      {"mul.lo.s16 %s, %h0, %h1; cvt.s64.s16 %d, %s;",
       [](uint64_t a, uint64_t b, uint64_t) { return static_cast<uint64_t>(int64_t(int16_t(a * b))); }},
      {"clz.b64 %r, %a0; cvt.u64.u32 %d, %r;",
       [](uint64_t a, uint64_t, uint64_t) { return static_cast<uint64_t>(std::countl_zero(a)); }},
      {"mov.b64 {%w0, %w1}, %a0; mov.b64 %d, {%w1, %w0};",
       [](uint64_t a, uint64_t, uint64_t) { return a >> 32 | a << 32; }},
  };
  for (const Wide &c : cases) {
    auto got = evaluate(c.body, inputs, true);
    for (size_t k = 0; k < inputs.size(); ++k)
      ASSERT_EQ(got[k], c.want(inputs[k][0], inputs[k][1], inputs[k][2]))
          << c.body << " of " << std::hex << inputs[k][0] << ", " << inputs[k][1];
  }
}

} // namespace
} // namespace tenon::emulator::test
