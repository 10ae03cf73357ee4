// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point arithmetic: single precision, directed rounding, halves, the approximate functions.
#include "tests/unit/emulator/instruction_testing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::emulator::test {
namespace {

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

/// A quotient just below the smallest normal number is flushed, though rounding at the step of subnormal numbers would
/// bring it there; found by tests/sequences on an H200.
TEST(EmulatorInstruction, QuotientsAreFlushedBeforeTheyAreRounded) {
  Session session;
  const Inputs words = {{0x3effffff, 0xfe000000, 0}, {0x3f000000, 0x7e000000, 0}};
  checkWords("div.rm.ftz.f32 %r, %w0, %w1;", words,
             [](uint32_t a, uint32_t, uint32_t) { return a == 0x3effffff ? 0x80000000u : 0x00800000u; });
  checkWords("div.rp.ftz.f32 %r, %w0, %w1;", words,
             [](uint32_t a, uint32_t, uint32_t) { return a == 0x3effffff ? 0x80000000u : 0x00800000u; });
  checkWords("div.rn.ftz.f32 %r, %w0, %w1;", words,
             [](uint32_t a, uint32_t, uint32_t) { return a == 0x3effffff ? 0x80000000u : 0x00800000u; });
  checkWords("div.rm.f32 %r, %w0, %w1;", words,
             [](uint32_t a, uint32_t, uint32_t) { return a == 0x3effffff ? 0x80800000u : 0x00800000u; });
}

/// What sm_100 brought: run with TENON_EMULATOR_SM=120.
bool isBlackwell() {
  int major = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0), CUDA_SUCCESS);
  return major >= 10;
}

TEST(EmulatorInstruction, BlackwellPairs) {
  Session session;
  if (!isBlackwell())
    GTEST_SKIP() << "sm_100 has these instructions: TENON_EMULATOR_SM=120 runs them";
  const Case cases[] = {
      {"add.rn.f32x2", [](uint32_t a, uint32_t b, uint32_t) { return bits(f(a) + f(b)); }},
      {"sub.f32x2", [](uint32_t a, uint32_t b, uint32_t) { return bits(f(a) - f(b)); }},
      {"mul.rn.ftz.f32x2",
       [](uint32_t a, uint32_t b, uint32_t) { return flushed(bits(f(flushed(a)) * f(flushed(b)))); }},
      {"fma.rn.f32x2", [](uint32_t a, uint32_t b, uint32_t c) { return bits(std::fmaf(f(a), f(b), f(c))); }},
  };
  for (const Case &c : cases) {
    std::string body =
        std::string("mov.b64 %a0, {%w0, %w1}; mov.b64 %a1, {%w1, %w2}; mov.b64 %a2, {%w2, %w0}; ") + c.body;
    body += std::string_view(c.body).starts_with("fma") ? " %e, %a0, %a1, %a2; " : " %e, %a0, %a1; ";
    checkWords(body + "mov.b64 {%r, _}, %e;", pairs(kFloats), c.want, "sm_120");
    checkWords(
        body + "mov.b64 {_, %r}, %e;", pairs(kFloats),
        [&](uint32_t a, uint32_t b, uint32_t third) { return c.want(b, third, a); }, "sm_120");
  }
}

/// All sources but the last are narrower than the result.
TEST(EmulatorInstruction, BlackwellMixedTypes) {
  Session session;
  if (!isBlackwell())
    GTEST_SKIP() << "sm_100 has these instructions: TENON_EMULATOR_SM=120 runs them";
  auto wide = [](uint32_t x) { return f(x << 16); }; // bf16
  auto half = [](uint32_t x) { return float(std::bit_cast<_Float16>(uint16_t(x))); };
  const Case cases[] = {
      {"add.f32.bf16 %r, %h0, %w1;", [&](uint32_t a, uint32_t b, uint32_t) { return bits(wide(a) + f(b)); }},
      {"sub.rn.f32.f16 %r, %h0, %w1;", [&](uint32_t a, uint32_t b, uint32_t) { return bits(half(a) - f(b)); }},
      {"fma.rn.f32.f16 %r, %h0, %h2, %w1;",
       [&](uint32_t a, uint32_t b, uint32_t c) { return bits(std::fmaf(half(a), half(c), f(b))); }},
      {"fma.rn.f32.bf16 %r, %h0, %h2, %w1;",
       [&](uint32_t a, uint32_t b, uint32_t c) { return bits(std::fmaf(wide(a), wide(c), f(b))); }},
      {"fma.rn.sat.f32.bf16 %r, %h0, %h2, %w1;",
       [&](uint32_t a, uint32_t b, uint32_t c) {
         float v = std::fmaf(wide(a), wide(c), f(b));
         return bits(v > 0 ? std::min(v, 1.0f) : 0.0f);
       }},
  };
  for (const Case &c : cases) {
    Inputs inputs;
    for (uint32_t a : {0u, 0x8000u, 1u, 0x3c00u, 0xbc01u, 0x3f80u, 0xc2a7u, 0x7bffu, 0x7c00u, 0x7f80u, 0x7fffu})
      for (uint32_t b : kFloats)
        inputs.push_back({a, b, a * 40503u % 65536});
    checkWords(c.body, inputs, c.want, "sm_120");
  }
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

// 1.0625 * 1.0625 lies in the middle of two bf16 values; an addend of 2^-100 decides, though no double holds the sum.
TEST(EmulatorInstruction, BfloatFmaSeesWhatADoubleDoesNotHold) {
  Session session;
  checkWords("fma.rn.bf16x2 %r, %w0, %w1, %w2;",
             {{0x3f883f88, 0x3f883f88, 0x0d808d80}, {0xbf883f88, 0x3f88bf88, 0x0d800000}},
             [](uint32_t a, uint32_t, uint32_t) { return a == 0x3f883f88 ? 0x3f913f90u : 0xbf90bf90u; });
}

// Errors of the approximate functions, in the measure that the PTX ISA documents for each.
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

} // namespace
} // namespace tenon::emulator::test
