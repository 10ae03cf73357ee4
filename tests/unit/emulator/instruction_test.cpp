// One instruction at a time, on values at the edges of its type, against what IEEE-754 and the PTX ISA say:
// expectations are written with 128-bit integers, long double and plain loops, not with the emulator's own helpers.
#include "tests/unit/emulator/harness.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace tenon::emulator::test {
namespace {

using Inputs = std::vector<std::array<uint64_t, 3>>;

/// Runs `body` once per input triple: %a0..2 (.b64), %w0..2 (.b32), %h0..2 (.b16) hold it; the result is %d (.b64),
/// from %r (.b32) when `wide` is false.
std::vector<uint64_t> evaluate(const std::string &body, const Inputs &inputs, bool wide,
                               const std::string &target = "sm_80") {
  std::vector<uint64_t> flat;
  for (const auto &triple : inputs)
    flat.insert(flat.end(), triple.begin(), triple.end());
  DeviceArray<uint64_t> in(flat), out(inputs.size());
  std::string ptx = header(target) + R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b64 %p<3>, %a<3>, %d, %t, %e;
  .reg .b32 %w<3>, %r, %i, %z;
  .reg .b16 %h<3>, %s;
  .reg .pred %q<4>;
  ld.param.u64 %p0, [in];
  ld.param.u64 %p1, [out];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %t, %i, 24;
  add.u64 %t, %t, %p0;
  ld.global.u64 %a0, [%t];
  ld.global.u64 %a1, [%t+8];
  ld.global.u64 %a2, [%t+16];
  cvt.u32.u64 %w0, %a0;
  cvt.u32.u64 %w1, %a1;
  cvt.u32.u64 %w2, %a2;
  cvt.u16.u64 %h0, %a0;
  cvt.u16.u64 %h1, %a1;
  cvt.u16.u64 %h2, %a2;
  mov.b32 %r, 0;
  mov.b64 %d, 0;
)" + body + (wide ? "" : "\n  cvt.u64.u32 %d, %r;") +
                    R"(
  mul.wide.u32 %t, %i, 8;
  add.u64 %t, %t, %p1;
  st.global.u64 [%t], %d;
  ret;
}
)";
  EXPECT_EQ(run(ptx, {in.address, out.address}, 1, static_cast<unsigned>(inputs.size())), CUDA_SUCCESS) << body;
  return out.read();
}

const std::vector<uint32_t> kWords = {0,          1,          2,          31,         32,         33,        63,
                                      255,        256,        0x7fff,     0x8000,     0xffff,     0x10000,   0x7fffffff,
                                      0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678, 0xdeadbeef};
const std::vector<uint32_t> kFloats = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                       0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x3f000000,
                                       0x40490fdb, 0x4b000000, 0x4f000000, 0xcf000000, 0x7f7fffff,
                                       0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345};

Inputs pairs(const std::vector<uint32_t> &values) {
  Inputs inputs;
  for (uint32_t a : values)
    for (uint32_t b : values)
      inputs.push_back({a, b, a * 2654435761u + b});
  return inputs;
}

using Word = std::function<uint32_t(uint32_t, uint32_t, uint32_t)>;
void checkWords(const std::string &body, const Inputs &inputs, const Word &want, const std::string &target = "sm_80") {
  std::vector<uint64_t> got = evaluate(body, inputs, false, target);
  for (size_t k = 0; k < inputs.size(); ++k) {
    uint32_t a = static_cast<uint32_t>(inputs[k][0]), b = static_cast<uint32_t>(inputs[k][1]),
             c = static_cast<uint32_t>(inputs[k][2]);
    ASSERT_EQ(static_cast<uint32_t>(got[k]), want(a, b, c))
        << body << " of " << std::hex << a << ", " << b << ", " << c;
  }
}

float f(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
uint32_t bits(float x) {
  return x != x ? 0x7fffffffu : std::bit_cast<uint32_t>(x);
}
uint32_t flushed(uint32_t x) {
  return (x & 0x7f800000) == 0 ? x & 0x80000000 : x;
}
int64_t s(uint32_t x) {
  return static_cast<int32_t>(x);
}

struct Case {
  const char *body;
  Word want;
};

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

TEST(EmulatorInstruction, SinglePrecision) {
  Session session;
  const Case cases[] = {
      {"add.f32 %r, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return bits(f(a) + f(b)); }},
      {"mul.f32 %r, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return bits(f(a) * f(b)); }},
      {"mul.ftz.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return flushed(bits(f(flushed(a)) * f(flushed(b)))); }},
      {"add.sat.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         float v = f(a) + f(b);
         return bits(v > 0 ? std::min(v, 1.0f) : 0.0f);
       }},
      {"fma.rn.f32 %r, %w0, %w1, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return bits(std::fmaf(f(a), f(b), f(b))); }},
      {"div.rn.f32 %r, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return bits(f(a) / f(b)); }},
      {"sqrt.rn.f32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return bits(std::sqrt(f(a))); }},
      {"rcp.rn.f32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return bits(1.0f / f(a)); }},
      {"abs.f32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return f(a) == f(a) ? a & 0x7fffffff : 0x7fffffffu; }},
      {"neg.f32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return f(a) == f(a) ? a ^ 0x80000000 : 0x7fffffffu; }},
      {"copysign.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return (a & 0x80000000) | (b & 0x7fffffff); }},
      {"min.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         if (f(a) != f(a) || f(b) != f(b))
           return f(a) != f(a) ? bits(f(b)) : bits(f(a));
         return f(a) == f(b) ? a | b : f(a) < f(b) ? a : b;
       }},
      {"max.NaN.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         if (f(a) != f(a) || f(b) != f(b))
           return 0x7fffffffu;
         return f(a) == f(b) ? a & b : f(a) > f(b) ? a : b;
       }},
      {"setp.lt.f32 %q0, %w0, %w1; selp.b32 %r, 1, 0, %q0;",
       [](uint32_t a, uint32_t b, uint32_t) { return uint32_t(f(a) < f(b)); }},
      {"setp.ltu.f32 %q0, %w0, %w1; selp.b32 %r, 1, 0, %q0;",
       [](uint32_t a, uint32_t b, uint32_t) { return uint32_t(!(f(a) >= f(b))); }},
      {"setp.ne.f32 %q0, %w0, %w1; selp.b32 %r, 1, 0, %q0;",
       [](uint32_t a, uint32_t b, uint32_t) { return uint32_t(f(a) < f(b) || f(a) > f(b)); }},
      {"setp.eq.ftz.f32 %q0, %w0, %w1; selp.b32 %r, 1, 0, %q0;",
       [](uint32_t a, uint32_t b, uint32_t) { return uint32_t(f(flushed(a)) == f(flushed(b))); }},
      {"set.ge.u32.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return f(a) >= f(b) ? 0xffffffffu : 0u; }},
      {"set.nan.f32.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) { return f(a) != f(a) || f(b) != f(b) ? 0x3f800000u : 0u; }},
      {"testp.subnormal.f32 %q0, %w0; selp.b32 %r, 1, 0, %q0;",
       [](uint32_t a, uint32_t, uint32_t) { return uint32_t((a & 0x7f800000) == 0 && (a & 0x7fffff)); }},
      {"setp.gt.and.f32 %q0|%q1, %w0, 0f00000000, %q2; selp.b32 %r, 1, 0, %q1;",
       [](uint32_t, uint32_t, uint32_t) { return 0u; }},
  };
  for (const Case &c : cases)
    checkWords(c.body, pairs(kFloats), c.want);
}

TEST(EmulatorInstruction, DirectedRounding) {
  Session session;
  // The exact sum or product of two floats of like size is exact in long double.
  auto round = [](long double exact, int direction) {
    float near = static_cast<float>(exact);
    if (direction > 0 && static_cast<long double>(near) < exact)
      near = std::nextafterf(near, INFINITY);
    if (direction < 0 && static_cast<long double>(near) > exact)
      near = std::nextafterf(near, -INFINITY);
    if (direction == 0 && std::fabs(static_cast<long double>(near)) > std::fabs(exact))
      near = std::nextafterf(near, 0.0f);
    return std::bit_cast<uint32_t>(near);
  };
  Inputs inputs;
  uint32_t state = 12345;
  for (int k = 0; k < 300; ++k) {
    state = state * 1664525 + 1013904223;
    uint32_t a = 0x3f000000 + (state >> 6), b = 0x3e000000 + (state * 2654435761u >> 6);
    inputs.push_back({a | (state << 31), b, 0});
  }
  auto x = [](uint32_t v) { return static_cast<long double>(f(v)); };
  checkWords("add.rz.f32 %r, %w0, %w1;", inputs,
             [&](uint32_t a, uint32_t b, uint32_t) { return round(x(a) + x(b), 0); });
  checkWords("sub.rp.f32 %r, %w0, %w1;", inputs,
             [&](uint32_t a, uint32_t b, uint32_t) { return round(x(a) - x(b), 1); });
  checkWords("mul.rm.f32 %r, %w0, %w1;", inputs,
             [&](uint32_t a, uint32_t b, uint32_t) { return round(x(a) * x(b), -1); });
  checkWords("cvt.rp.f32.s32 %r, %w0;", inputs,
             [&](uint32_t a, uint32_t, uint32_t) { return round(static_cast<long double>(s(a)), 1); });
  checkWords("cvt.rz.f32.u32 %r, %w0;", inputs,
             [&](uint32_t a, uint32_t, uint32_t) { return round(static_cast<long double>(a), 0); });
}

template <typename T> uint32_t toInteger(double v) {
  if (v != v)
    return 0;
  if (v >= static_cast<double>(std::numeric_limits<T>::max()))
    return static_cast<uint32_t>(std::numeric_limits<T>::max());
  if (v <= static_cast<double>(std::numeric_limits<T>::min()))
    return static_cast<uint32_t>(std::numeric_limits<T>::min());
  return static_cast<uint32_t>(static_cast<T>(v));
}

TEST(EmulatorInstruction, Conversions) {
  Session session;
  const Case cases[] = {
      {"cvt.rni.s32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return toInteger<int32_t>(std::nearbyint(static_cast<double>(f(a)))); }},
      {"cvt.rzi.u32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return toInteger<uint32_t>(std::trunc(static_cast<double>(f(a)))); }},
      {"cvt.rmi.s32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return toInteger<int32_t>(std::floor(static_cast<double>(f(a)))); }},
      {"cvt.rpi.f32.f32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return bits(std::ceil(f(a))); }},
      {"cvt.sat.f32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return bits(f(a) > 0 ? std::min(f(a), 1.0f) : 0.0f); }},
      {"cvt.rn.f16.f32 %s, %w0; cvt.u32.u16 %r, %s;",
       [](uint32_t a, uint32_t, uint32_t) {
         return f(a) != f(a) ? 0x7fffu : std::bit_cast<uint16_t>(static_cast<_Float16>(f(a)));
       }},
      {"cvt.f32.f16 %r, %h0;",
       [](uint32_t a, uint32_t, uint32_t) {
         return bits(static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(a))));
       }},
      {"cvt.rn.bf16.f32 %s, %w0; cvt.u32.u16 %r, %s;",
       [](uint32_t a, uint32_t, uint32_t) { return f(a) != f(a) ? 0x7fffu : (a + 0x7fff + (a >> 16 & 1)) >> 16; }},
      {"cvt.rn.f16x2.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         auto h = [](uint32_t v) -> uint32_t {
           return f(v) != f(v) ? 0x7fff : std::bit_cast<uint16_t>(static_cast<_Float16>(f(v)));
         };
         return h(a) << 16 | h(b);
       }},
      {"cvt.rna.tf32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) {
         if (f(a) != f(a))
           return a & ~0x1fffu;
         return std::isinf(f(a)) ? a : (a + 0x1000) & ~0x1fffu;
       }},
  };
  for (const Case &c : cases)
    checkWords(c.body, pairs(kFloats), c.want);
  const Case integers[] = {
      {"cvt.sat.s8.s32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(std::clamp<int64_t>(s(a), -128, 127)); }},
      {"cvt.s32.s8 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(int32_t(int8_t(a))); }},
      {"cvt.u32.u8 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return a & 255; }},
      {"cvt.sat.u16.s32 %s, %w0; cvt.u32.u16 %r, %s;",
       [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(std::clamp<int64_t>(s(a), 0, 65535)); }},
      {"cvt.rn.f32.s32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return bits(static_cast<float>(int32_t(a))); }},
      {"cvt.rn.f32.u32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return bits(static_cast<float>(a)); }},
  };
  for (const Case &c : integers)
    checkWords(c.body, pairs(kWords), c.want);
}

TEST(EmulatorInstruction, HalfArithmeticRoundsOnce) {
  Session session;
  Inputs inputs;
  const uint16_t values[] = {0,      0x8000, 1,      0x03ff, 0x0400, 0x3c00, 0xbc00,
                             0x3555, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x4248};
  for (uint32_t a : values)
    for (uint32_t b : values)
      inputs.push_back({a | b << 16, b | a << 16, a | a << 16});
  auto value = [](uint32_t v) { return static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(v))); };
  auto narrow = [](double v) -> uint32_t {
    return v != v ? 0x7fff : std::bit_cast<uint16_t>(static_cast<_Float16>(v));
  };
  checkWords("add.f16x2 %r, %w0, %w1;", inputs, [&](uint32_t a, uint32_t b, uint32_t) {
    return narrow(value(a) + value(b)) | narrow(value(a >> 16) + value(b >> 16)) << 16;
  });
  checkWords("mul.f16x2 %r, %w0, %w1;", inputs, [&](uint32_t a, uint32_t b, uint32_t) {
    return narrow(value(a) * value(b)) | narrow(value(a >> 16) * value(b >> 16)) << 16;
  });
  checkWords("fma.rn.f16x2 %r, %w0, %w1, %w2;", inputs, [&](uint32_t a, uint32_t b, uint32_t c) {
    return narrow(value(a) * value(b) + value(c)) | narrow(value(a >> 16) * value(b >> 16) + value(c >> 16)) << 16;
  });
}

// Errors of the approximate functions, in the measure that the PTX ISA documents for each.
// 1.0625 * 1.0625 lies in the middle of two bf16 values; an addend of 2^-100 decides, though no double holds the sum.
TEST(EmulatorInstruction, BfloatFmaSeesWhatADoubleDoesNotHold) {
  Session session;
  checkWords("fma.rn.bf16x2 %r, %w0, %w1, %w2;",
             {{0x3f883f88, 0x3f883f88, 0x0d808d80}, {0xbf883f88, 0x3f88bf88, 0x0d800000}},
             [](uint32_t a, uint32_t, uint32_t) { return a == 0x3f883f88 ? 0x3f913f90u : 0xbf90bf90u; });
}

TEST(EmulatorInstruction, ApproximateFunctions) {
  Session session;
  Inputs inputs;
  for (int k = 1; k < 500; ++k)
    inputs.push_back({std::bit_cast<uint32_t>(static_cast<float>(k) * 0.013f),
                      std::bit_cast<uint32_t>(static_cast<float>(k - 250) * 0.31f), 0});
  auto check = [&](const char *body, int which, double relative, double absolute, double (*want)(double)) {
    auto got = evaluate(body, inputs, false);
    for (size_t k = 0; k < inputs.size(); ++k) {
      double x = f(static_cast<uint32_t>(inputs[k][static_cast<size_t>(which)])), w = want(x);
      ASSERT_NEAR(f(static_cast<uint32_t>(got[k])), w, std::fabs(w) * relative + absolute) << body << " of " << x;
    }
  };
  check("ex2.approx.f32 %r, %w1;", 1, std::ldexp(1, -22), 0, [](double x) { return std::exp2(x); });
  check("lg2.approx.f32 %r, %w0;", 0, std::ldexp(1, -22), std::ldexp(1, -22), [](double x) { return std::log2(x); });
  check("sin.approx.f32 %r, %w0;", 0, 0, std::ldexp(1, -21), [](double x) { return std::sin(x); });
  check("cos.approx.f32 %r, %w0;", 0, 0, std::ldexp(1, -21), [](double x) { return std::cos(x); });
  check("rcp.approx.f32 %r, %w0;", 0, std::ldexp(1, -23), 0, [](double x) { return 1 / x; });
  check("rsqrt.approx.f32 %r, %w0;", 0, std::ldexp(1, -23), 0, [](double x) { return 1 / std::sqrt(x); });
  check("sqrt.approx.f32 %r, %w0;", 0, std::ldexp(1, -23), 0, [](double x) { return std::sqrt(x); });
  check("tanh.approx.f32 %r, %w0;", 0, std::ldexp(1, -11), 0, [](double x) { return std::tanh(x); });
}

TEST(EmulatorInstruction, RefusesWhatItDoesNotKnow) {
  Session session;
  struct Refusal {
    const char *instruction, *text;
  };
  const Refusal refusals[] = {
      {"frob.s32 %r, %r;", "does not support 'frob.s32'"},
      {"add.ftz.s32 %r, %r, %r;", "'add.ftz.s32': modifier '.ftz'"},
      {"add.rz.sat.foo.f32 %r, %r, %r;", "modifier '.foo'"},
      {"add.s64 %r, %r, %r;", "register '%r' has 32 bits, 'add.s64' writes 64"},
      {"cvt.f16.f32 %h, %r;", "needs a rounding modifier"},
      {"add.s32 %x, %r, %r;", "'%x', the destination of 'add.s32', is not a declared register"},
      {"bra nowhere;", "label 'nowhere' is not in 'k'"},
      {"mov.u32 %r, %pm0;", "does not support the register '%pm0'"},
      {"call missing;", "'missing' is not declared"},
      {"setp.lo.and.s32 %q, %r, %r;", "takes four operands, found 3"},
      {"add.f32 %r, %r, 1;", "is an integer, a floating-point number is wanted"},
      {"ld.global.v4.b16 %h, [%r];", "wants a vector of 4"},
  };
  for (const Refusal &refusal : refusals) {
    Loaded loaded = load(header() + ".visible .entry k()\n{\n  .reg .b32 %r;\n  .reg .b16 %h;\n  .reg .pred %q;\n  " +
                         refusal.instruction + "\n  ret;\n}\n");
    EXPECT_EQ(loaded.result, CUDA_ERROR_INVALID_PTX) << refusal.instruction;
    EXPECT_NE(loaded.log.find(refusal.text), std::string::npos) << refusal.instruction << "\n" << loaded.log;
    EXPECT_NE(loaded.log.find(":9:3: error: "), std::string::npos) << loaded.log;
  }
}

} // namespace
} // namespace tenon::emulator::test
