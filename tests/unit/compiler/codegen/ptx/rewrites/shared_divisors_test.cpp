// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/shared_divisors.h"

#include "tests/unit/compiler/codegen/ptx/rewrites/rewritten.h"

#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <random>

namespace tenon::compiler::codegen {
namespace {

size_t countOf(const std::string &text, const std::string &what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

/// @f with the body, of %p, of floats %w to %z and of the divisor %d.
std::string shared(const std::string &body, unsigned count) {
  const std::string text =
      "declare void @other()\ndefine void @f(ptr %p, float %w, float %x, float %y, float %z, float %d) {\n" + body +
      "ret void\n}\n";
  return rewritten(text, Printed::FunctionF, [&](llvm::Module &module) {
    EXPECT_EQ(shareDivisors(module, /*least=*/4), count) << text;
    EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
  });
}

/// Quotients of all four, each stored before the next is computed.
std::string quotients(const std::string &flags = "", const std::string &between = "") {
  std::string body;
  for (const char *of : {"w", "x", "y", "z"})
    body += std::string("%q") + of + " = fdiv " + flags + "float %" + of + ", %d\nstore float %q" + of + ", ptr %p\n" +
            between;
  return body;
}

TEST(SharedDivisorsTest, QuotientsOfOneDivisorShareItsReciprocal) {
  const std::string text = shared(quotients(), 4);
  EXPECT_EQ(countOf(text, "fdiv float 1.000000e+00, %d"), 1u) << text;
  EXPECT_EQ(countOf(text, "fdiv"), 5u) << text; // and those that are out of bounds
  EXPECT_EQ(countOf(text, "call float @llvm.fma.f32"), 8u) << text;
  EXPECT_EQ(countOf(text, "br i1"), 1u) << text;
}

/// What is divided may be computed between quotients, where nothing else stands in the way.
TEST(SharedDivisorsTest, WhatIsDividedIsComputedBefore) {
  const std::string body = "%a = fmul float %w, %x\n%q = fdiv float %a, %d\n%b = fmul float %y, %x\n"
                           "%r = fdiv float %b, %d\n%s = fdiv float %q, %d\n%t = fdiv float %z, %d\n"
                           "store float %r, ptr %p\nstore float %s, ptr %p\nstore float %t, ptr %p\n";
  // %s divides a quotient: two groups of two.
  const std::string text = shared(body, 4);
  EXPECT_EQ(countOf(text, "br i1"), 2u) << text;
}

/// A quotient of the divisor that another one is computed from is not moved in front of the question.
TEST(SharedDivisorsTest, QuotientsOfComputedQuotientsAskAnew) {
  const std::string text = shared("%q = fdiv float %w, %d\n%r = fdiv float %x, %d\n%m = fsub float %r, %y\n"
                                  "%s = fdiv float %m, %d\n%u = fadd float %s, %q\n%t = fdiv float %z, %d\n"
                                  "store float %u, ptr %p\nstore float %t, ptr %p\n",
                                  4);
  EXPECT_EQ(countOf(text, "br i1"), 2u) << text;
}

/// What is done for one divisor cuts the block of the other's quotients, and may replace the other itself.
TEST(SharedDivisorsTest, DivisorsComeOneAfterTheOther) {
  std::string body = quotients(), products, ofQuotient;
  for (const char *of : {"w", "x", "y", "z"}) {
    products += std::string("%m") + of + " = fmul float %q" + of + ", %d\n";
    ofQuotient += std::string("%s") + of + " = fdiv float %m" + of + ", %e\nstore float %s" + of + ", ptr %p\n";
  }
  EXPECT_EQ(countOf(shared("%e = fadd float %w, %d\n" + body + products + ofQuotient, 8), "br i1"), 2u);
  EXPECT_EQ(countOf(shared(body + "%e = fadd float %qw, 1.0\n" + products + ofQuotient, 8), "br i1"), 2u);
  std::string ofFirst = ofQuotient;
  for (size_t at; (at = ofFirst.find("%e")) != std::string::npos;)
    ofFirst.replace(at, 2, "%qw");
  EXPECT_EQ(countOf(shared(body + products + ofFirst, 8), "br i1"), 2u);
}

TEST(SharedDivisorsTest, FewQuotientsStay) {
  EXPECT_EQ(
      countOf(
          shared("%q = fdiv float %w, %d\n%r = fdiv float %x, %d\nstore float %q, ptr %p\nstore float %r, ptr %p\n", 0),
          "fma"),
      0u);
}

TEST(SharedDivisorsTest, ApproximateQuotientsStay) {
  EXPECT_EQ(countOf(shared(quotients("arcp afn "), 0), "fma"), 0u);
}

/// A value that is loaded behind the first quotient stays there.
TEST(SharedDivisorsTest, LoadsAreNotMoved) {
  const std::string body =
      "%q = fdiv float %w, %d\nstore float %q, ptr %p\n%l = load float, ptr %p\n%r = fdiv float %l, %d\n"
      "store float %r, ptr %p\n%m = load float, ptr %p\n%s = fdiv float %m, %d\nstore float %s, ptr %p\n"
      "%n = load float, ptr %p\n%t = fdiv float %n, %d\nstore float %t, ptr %p\n";
  EXPECT_EQ(countOf(shared(body, 0), "fma"), 0u);
}

float quotientOf(float a, float b) {
  const float y = 1 / b, q = a * y;
  return std::fma(std::fma(-b, q, a), y, q);
}

TEST(SharedDivisorsTest, QuotientsAreCorrectlyRounded) {
  std::mt19937 random(37);
  auto number = [&](int power) {
    return std::ldexp(1 + std::ldexp(float(random() & 0x7fffff), -23), int(random() % (2 * power)) - power);
  };
  for (int i = 0; i < 200000; ++i) {
    const float a = (random() % 2 ? 1.0F : -1.0F) * number(96), b = number(24);
    ASSERT_EQ(quotientOf(a, b), a / b) << a << " / " << b;
  }
}

/// Those that are nearest to where rounding changes: A 2^k = B M + c, of some B.
TEST(SharedDivisorsTest, HardQuotientsAreCorrectlyRounded) {
  constexpr int64_t kStep = 61, kMost = 8, kFirst = 1 << 23;
  unsigned tried = 0;
  for (int64_t divisor = kFirst; divisor < 2 * kFirst; divisor += kStep) {
    int zeros = 0;
    while (divisor >> zeros & 1 ? false : zeros < 4)
      ++zeros;
    const int64_t odd = divisor >> zeros;
    for (int k : {24, 25})
      for (int64_t c = -kMost; c <= kMost; ++c) {
        if (zeros > 3 || c == 0 || c % (1 << zeros) != 0)
          continue;
        const int64_t period = int64_t(1) << (k - zeros);
        int64_t inverse = odd;
        for (int i = 0; i < 5; ++i)
          inverse = inverse * (2 - odd * inverse) & (period - 1);
        for (int64_t m = -(c >> zeros) * inverse & (period - 1); m < 4 * kFirst; m += period) {
          const int64_t dividend = (divisor * m + c) >> k;
          if (m < 2 * kFirst || m % 2 == 0 || dividend < kFirst || dividend >= 2 * kFirst ||
              (k == 24) != (dividend >= divisor))
            continue;
          const auto a = float(dividend), b = float(divisor);
          ASSERT_EQ(quotientOf(std::ldexp(a, -20), std::ldexp(b, -23)), std::ldexp(a, -20) / std::ldexp(b, -23));
          ++tried;
        }
      }
  }
  EXPECT_GT(tried, 500000U);
}

} // namespace
} // namespace tenon::compiler::codegen
