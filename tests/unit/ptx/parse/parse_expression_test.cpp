// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

#include <bit>

namespace tenon::ptx {
namespace {
using namespace test;

Operand evaluate(std::string_view expression) {
  Parsed parsed = parseBody("mov.b64 %rd1, " + std::string(expression) + ";");
  EXPECT_EQ(parsed.errors, "") << expression;
  if (!parsed.errors.empty())
    return {};
  return parsed.module.functions[0].instructions[0].operands[1];
}

int64_t integer(std::string_view expression) {
  Operand operand = evaluate(expression);
  EXPECT_EQ(operand.kind, Operand::Kind::Integer) << expression;
  return static_cast<int64_t>(operand.bits);
}

double number(std::string_view expression) {
  Operand operand = evaluate(expression);
  EXPECT_EQ(operand.kind, Operand::Kind::Float64) << expression;
  return std::bit_cast<double>(operand.bits);
}

TEST(PtxExpression, FollowsThePrecedenceOfC) {
  EXPECT_EQ(integer("1 + 2 * 3"), 7);
  EXPECT_EQ(integer("(1 + 2) * 3"), 9);
  EXPECT_EQ(integer("10 - 3 - 2"), 5);
  EXPECT_EQ(integer("1 << 4 | 3 & 6 ^ 1"), (1 << 4) | ((3 & 6) ^ 1));
  EXPECT_EQ(integer("7 % 4 + 7 / 2"), 6);
  EXPECT_EQ(integer("1 ? 2 : 0 ? 3 : 4"), 2);
  EXPECT_EQ(integer("0 ? 2 : 0 ? 3 : 4"), 4);
  EXPECT_EQ(integer("2 > 1 && 3 != 3 || 5 <= 5"), 1);
  EXPECT_EQ(integer("WARP_SZ * 2"), 64);
}

TEST(PtxExpression, WrapsAndNeverTraps) {
  EXPECT_EQ(integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(integer("-9223372036854775808 / (.s64)(-1)"), 0) << "an unsigned literal makes the quotient unsigned";
  EXPECT_EQ(integer("(.s64)0x8000000000000000 / -1"), INT64_MIN);
  EXPECT_EQ(integer("(.s64)0x8000000000000000 % -1"), 0);
  EXPECT_EQ(integer("1 << 64"), 0);
  EXPECT_EQ(integer("1 << -1"), 0);
  EXPECT_EQ(integer("-1 >> 200"), -1);
  EXPECT_EQ(integer("9223372036854775807 + 1"), INT64_MIN);
}

TEST(PtxExpression, KeepsSignedAndUnsignedApart) {
  EXPECT_EQ(integer("-8 >> 1"), -4);
  EXPECT_EQ(integer("(.u64)-8 >> 1"), INT64_MAX - 3);
  EXPECT_EQ(integer("-1 < 1"), 1);
  EXPECT_EQ(integer("-1 < 1U"), 0);
  EXPECT_EQ(integer("~0 == -1"), 1);
  EXPECT_EQ(integer("!5 + !0"), 1);
  EXPECT_EQ(integer("-7 / 2"), -3);
  EXPECT_EQ(integer("+7 - -7"), 14);
}

TEST(PtxExpression, ComputesWithDoubles) {
  EXPECT_EQ(number("-1.5"), -1.5);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("-.25e-1"), -0.025);
  EXPECT_EQ(number("(1.0 + 2.0) * 3.0 / 4.0 - 1.0"), 1.25);
  EXPECT_EQ(integer("3.0 > 2.0"), 1);
  EXPECT_EQ(integer("3.0 <= 2.0"), 0);
  EXPECT_EQ(integer("1.0 == 1.0"), 1);
  EXPECT_EQ(evaluate("0fBF800000").bits, 0xbf800000u);
  EXPECT_EQ(evaluate("-0f3F800000").bits, 0xbf800000u);
}

TEST(PtxExpression, LimitsItsDepth) {
  std::string minus(100000, '-'), parens(100000, '(');
  EXPECT_EQ(bodyErrors("mov.u32 %r1, " + minus + "1;"),
            "k.ptx:5:79: error: [P-9] a constant expression of more than 64 levels\n");
  EXPECT_EQ(bodyErrors("mov.u32 %r1, " + parens + "1;"),
            "k.ptx:5:79: error: [P-9] a constant expression of more than 64 levels\n");
  std::string choices;
  for (int i = 0; i < 100000; ++i)
    choices += "1?";
  EXPECT_EQ(bodyErrors("mov.u32 %r1, " + choices + "1;"),
            "k.ptx:5:144: error: [P-9] a constant expression of more than 64 levels\n");
}

TEST(PtxExpression, ReportsEveryErrorInABody) {
  const ErrorCase cases[] = {
      {R"(mov.u32 %r1, 1/0;)", "k.ptx:5:15: error: [P-8] division by zero in a constant expression\n"},
      {R"(mov.u32 %r1, 1.0/0.0;)", "k.ptx:5:17: error: [P-8] division by zero in a constant expression\n"},
      {R"(mov.u32 %r1, 1 + 2.0;)", "k.ptx:5:16: error: [P-8] '+' joins constants of two types\n"
                                   "fix: write both as integers, or both with a decimal point\n"},
      {R"(mov.u32 %r1, 0f3F800000 + 0f3F800000;)", "k.ptx:5:25: error: [P-8] no arithmetic on 0f numbers\n"
                                                   "fix: write them as decimals, or compute the bits\n"},
      {R"(mov.u32 %r1, 1.0 % 2.0;)", "k.ptx:5:18: error: [P-8] '%' takes integers, found floating-point numbers\n"},
      {R"(mov.u32 %r1, ~1.0;)", "k.ptx:5:14: error: [P-8] '~' takes an integer, found a floating-point number\n"},
      {R"(mov.u32 %r1, 1.0 ? 1 : 2;)", "k.ptx:5:14: error: [P-8] the condition before '?' is no integer\n"},
      {R"(mov.u32 %r1, 1 ? 2;)", "k.ptx:5:19: error: [P-4] found ';', expected ':'\n"},
      {R"(mov.u32 %r1, (1 + x);)", "k.ptx:5:19: error: [P-8] found 'x', expected a constant\n"
                                   "fix: constant expressions hold numbers and WARP_SZ, no names\n"},
      {R"(mov.u32 %r1, (.s64)1.0;)",
       "k.ptx:5:15: error: [P-8] a cast takes an integer, found a floating-point number\n"},
      {R"(mov.u32 %r1, (1;)", "k.ptx:5:16: error: [P-4] found ';', expected ')'\n"},
      {R"(mov.u32 %r1, @;)", "k.ptx:5:14: error: [P-4] found '@', expected a name or a constant\n"},
  };
  for (const ErrorCase &c : cases)
    EXPECT_EQ(bodyErrors(c.text), c.errors) << c.text;
}

} // namespace
} // namespace tenon::ptx
