// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/register_program.h"

#include "abi/format/arithmetic.h"

#include <bit>
#include <gtest/gtest.h>

namespace tenon::compiler::host {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(RegisterProgram, NumbersOperationsInTheOrderTheyAreBuilt) {
  RegisterProgram program;
  Register n = program.dim(0, 0);
  Register sixtyFour = program.constant(64);
  Register blocks = program.binary(Opcode::CeilDiv, n, sixtyFour);
  EXPECT_EQ(n, 0u);
  EXPECT_EQ(sixtyFour, 1u);
  EXPECT_EQ(blocks, 2u);
  RegisterOperation wanted{.opcode = Opcode::CeilDiv, .a = 0, .b = 1};
  EXPECT_EQ(program.operations()[2], wanted);
}

TEST(RegisterProgram, GivesEqualOperationsOneRegister) {
  RegisterProgram program;
  Register a = program.dim(0, 0), b = program.dim(1, 0);
  EXPECT_EQ(program.dim(0, 0), a);
  EXPECT_EQ(program.add(a, b), program.add(b, a));
  EXPECT_EQ(program.equal(a, b), program.equal(b, a));
  EXPECT_NE(program.binary(Opcode::Sub, a, b), program.binary(Opcode::Sub, b, a));
  EXPECT_EQ(program.mul(program.constant(4), a), program.mul(a, program.constant(4)));
}

TEST(RegisterProgram, FoldsConstants) {
  struct Case {
    Opcode opcode;
    int64_t a, b, wanted;
  };
  const Case cases[] = {
      {Opcode::Add, 2, 3, 5},        {Opcode::Sub, 2, 3, -1},       {Opcode::Mul, -2, 3, -6},
      {Opcode::FloorDiv, -7, 2, -4}, {Opcode::FloorDiv, 7, 2, 3},   {Opcode::CeilDiv, 7, 2, 4},
      {Opcode::CeilDiv, -7, 2, -3},  {Opcode::CeilDiv, 8, 2, 4},    {Opcode::Mod, -7, 4, 1},
      {Opcode::Mod, 7, -4, -1},      {Opcode::DivTrunc, -7, 2, -3}, {Opcode::RemTrunc, -7, 4, -3},
      {Opcode::Min, -1, 3, -1},      {Opcode::Max, -1, 3, 3},       {Opcode::And, 12, 10, 8},
      {Opcode::Or, 12, 10, 14},      {Opcode::Xor, 12, 10, 6},      {Opcode::Eq, 4, 4, 1},
      {Opcode::Lt, -1, 0, 1},        {Opcode::Lt, 0, 0, 0},         {Opcode::Align, 13, 8, 16},
      {Opcode::Align, 16, 8, 16},
  };
  RegisterProgram program;
  for (const Case &test : cases) {
    Register folded = program.binary(test.opcode, program.constant(test.a), program.constant(test.b));
    EXPECT_EQ(program.constantValue(folded), test.wanted)
        << abi::fb::EnumNameRegisterOpcode(test.opcode) << " " << test.a << " " << test.b;
  }
}

TEST(RegisterProgram, OperationsModulo64BitsAreOthersWhereTheyCannotOverflow) {
  RegisterProgram program;
  const Register any = program.argument(0, {}), small = program.argument(1, {-9, 9});
  EXPECT_EQ(program.binary(Opcode::AddWrap, small, small), program.add(small, small));
  EXPECT_EQ(program.binary(Opcode::MulWrap, small, small), program.mul(small, small));
  EXPECT_NE(program.binary(Opcode::AddWrap, any, small), program.add(any, small));
  EXPECT_EQ(program.binary(Opcode::AddWrap, any, small), program.binary(Opcode::AddWrap, small, any));
  EXPECT_EQ(program.binary(Opcode::MulWrap, any, program.constant(1)), any);
  EXPECT_EQ(program.binary(Opcode::SubWrap, any, program.constant(0)), any);
  EXPECT_EQ(program.constantValue(program.binary(Opcode::AddWrap, program.constant(kMax), program.constant(1))), kMin);
}

TEST(RegisterProgram, KeepsOperationsThatFail) {
  RegisterProgram program;
  auto kept = [&](Opcode opcode, int64_t a, int64_t b) {
    return !program.constantValue(program.binary(opcode, program.constant(a), program.constant(b)));
  };
  EXPECT_TRUE(kept(Opcode::Add, kMax, 1));
  EXPECT_TRUE(kept(Opcode::Sub, kMin, 1));
  EXPECT_TRUE(kept(Opcode::Mul, kMax, 2));
  EXPECT_TRUE(kept(Opcode::FloorDiv, 1, 0));
  EXPECT_TRUE(kept(Opcode::DivTrunc, kMin, -1));
  EXPECT_TRUE(kept(Opcode::RemTrunc, 1, 0));
  EXPECT_TRUE(kept(Opcode::Align, kMax, 2));
  EXPECT_FALSE(kept(Opcode::Mod, kMin, -1)) << "0, although the quotient does not exist";
  EXPECT_FALSE(kept(Opcode::RemTrunc, kMin, -1));
}

TEST(RegisterProgram, FoldsIdentities) {
  RegisterProgram program;
  Register n = program.dim(0, 0), zero = program.constant(0), one = program.constant(1);
  EXPECT_EQ(program.add(zero, n), n);
  EXPECT_EQ(program.binary(Opcode::Sub, n, zero), n);
  EXPECT_EQ(program.binary(Opcode::Sub, n, n), zero);
  EXPECT_EQ(program.mul(one, n), n);
  EXPECT_EQ(program.mul(zero, n), zero);
  EXPECT_EQ(program.binary(Opcode::CeilDiv, n, one), n);
  EXPECT_EQ(program.binary(Opcode::RemTrunc, n, one), zero);
  EXPECT_EQ(program.binary(Opcode::Min, n, n), n);
  EXPECT_EQ(program.binary(Opcode::Max, n, zero), n);
  EXPECT_EQ(program.binary(Opcode::And, n, program.constant(-1)), n);
  EXPECT_EQ(program.binary(Opcode::Or, zero, n), n);
  EXPECT_EQ(program.binary(Opcode::Xor, n, n), zero);
  EXPECT_EQ(program.equal(n, n), one);
  EXPECT_EQ(program.less(n, n), zero);
  EXPECT_EQ(program.select(one, n, zero), n);
  EXPECT_EQ(program.select(zero, n, zero), zero);
  EXPECT_EQ(program.select(program.argument(1, {0, 1}), n, n), n);
}

TEST(RegisterProgram, FoldsWhatRangesDecide) {
  RegisterProgram program;
  Register n = program.dim(0, 0);
  Register small = program.argument(1, signedRange(32));
  EXPECT_EQ(program.constantValue(program.less(n, program.constant(0))), 0);
  EXPECT_EQ(program.constantValue(program.less(program.constant(-1), n)), 1);
  EXPECT_EQ(program.constantValue(program.equal(n, program.constant(-1))), 0);
  EXPECT_EQ(program.signExtend(small, 32), small);
  EXPECT_EQ(program.signExtend(small, 64), small);
  EXPECT_NE(program.signExtend(program.add(small, small), 32), program.add(small, small));
  EXPECT_NE(program.zeroExtend(small, 32), small);
  EXPECT_EQ(program.zeroExtend(program.zeroExtend(small, 16), 32), program.zeroExtend(small, 16));
  EXPECT_EQ(program.signExtend(program.zeroExtend(small, 32), 32), small) << "back to where it came from";
  EXPECT_EQ(program.zeroExtend(program.signExtend(n, 32), 16), program.zeroExtend(n, 16));
  EXPECT_NE(program.signExtend(program.zeroExtend(n, 16), 32), program.signExtend(n, 32)) << "16 bits are fewer";
  EXPECT_TRUE(program.isNonNegative(program.mul(n, n)));
  EXPECT_FALSE(program.isNonNegative(program.mul(n, small)));
  EXPECT_TRUE(program.isNonNegative(program.binary(Opcode::CeilDiv, n, program.constant(64))));
  EXPECT_TRUE(program.isNonNegative(program.binary(Opcode::Mod, small, program.constant(8))));
}

// Every range is sound: evaluating on corners of the operands' ranges stays inside the result's.
TEST(RegisterProgram, RangesHoldEveryResult) {
  const Range ranges[] = {{}, {0, kMax}, {-5, 7}, {0, 1}, {3, 3}, {-9, -2}, {1, 100}};
  const Opcode opcodes[] = {Opcode::Add,     Opcode::Sub,      Opcode::Mul,      Opcode::FloorDiv, Opcode::CeilDiv,
                            Opcode::Mod,     Opcode::DivTrunc, Opcode::RemTrunc, Opcode::Min,      Opcode::Max,
                            Opcode::And,     Opcode::Or,       Opcode::Xor,      Opcode::Align,    Opcode::AddWrap,
                            Opcode::SubWrap, Opcode::MulWrap};
  auto samples = [](Range range) {
    std::vector<int64_t> values;
    for (int64_t value : {range.low, range.high, int64_t(-9), int64_t(-1), int64_t(0), int64_t(1), int64_t(6)})
      if (value >= range.low && value <= range.high)
        values.push_back(value);
    return values;
  };
  for (Range left : ranges)
    for (Range right : ranges)
      for (Opcode opcode : opcodes) {
        RegisterProgram program;
        Register result = program.binary(opcode, program.argument(0, left), program.argument(1, right));
        Range range = program.range(result);
        for (int64_t a : samples(left))
          for (int64_t b : samples(right))
            if (abi::ArithmeticResult result = abi::evaluate(opcode, a, b); result.ok()) {
              EXPECT_LE(range.low, result.value) << abi::fb::EnumNameRegisterOpcode(opcode) << " " << a << " " << b;
              EXPECT_GE(range.high, result.value) << abi::fb::EnumNameRegisterOpcode(opcode) << " " << a << " " << b;
            }
      }
}

TEST(RegisterProgram, FoldsFloats) {
  RegisterProgram program;
  using enum abi::fb::ElementType;
  const auto bits = [](float value) { return int64_t(std::bit_cast<uint32_t>(value)); };
  const Register half = program.constant(bits(0.5f)), two = program.constant(bits(2)), x = program.argument(0);
  EXPECT_EQ(program.constantValue(program.real(Opcode::FMul, 32, half, two)), bits(1));
  EXPECT_EQ(program.constantValue(program.real(Opcode::FSqrt, 32, program.constant(bits(4)))), bits(2));
  EXPECT_EQ(program.constantValue(program.real(Opcode::FLt, 32, half, two)), 1);
  EXPECT_EQ(program.constantValue(program.convertReal(F32, F64, half)), std::bit_cast<int64_t>(0.5));
  // x + 0 is not x where x is -0, and nothing is where x is NaN.
  const Register zero = program.constant(0);
  EXPECT_NE(program.real(Opcode::FAdd, 32, x, zero), x);
  EXPECT_FALSE(program.constantValue(program.real(Opcode::FEq, 32, x, x)));
  EXPECT_TRUE(program.isNonNegative(program.real(Opcode::FAdd, 32, x, x))) << "bits, zero-extended";
  EXPECT_FALSE(program.isNonNegative(program.real(Opcode::FAdd, 64, x, x)));
  EXPECT_EQ(program.real(Opcode::FAdd, 32, x, half), program.real(Opcode::FAdd, 32, x, half));
  EXPECT_NE(program.real(Opcode::FAdd, 32, x, half), program.real(Opcode::FAdd, 64, x, half));
  // What fails is left to the call.
  EXPECT_FALSE(program.constantValue(program.real(Opcode::FToInt, 32, program.constant(bits(1e30f)))));
}

TEST(RegisterProgram, ExtendsConstants) {
  RegisterProgram program;
  Register value = program.constant(0x1ffffffff);
  EXPECT_EQ(program.constantValue(program.signExtend(value, 32)), -1);
  EXPECT_EQ(program.constantValue(program.zeroExtend(value, 32)), 0xffffffff);
  EXPECT_EQ(program.constantValue(program.zeroExtend(program.constant(-1), 1)), 1);
  EXPECT_EQ(program.constantValue(program.signExtend(program.constant(0x80), 8)), -128);
}

TEST(RegisterProgram, DescribesWhatAUserKnows) {
  RegisterProgram program;
  Register n = program.dim(2, 1);
  EXPECT_EQ(program.describe(n), "dimension 1 of argument 2");
  EXPECT_EQ(program.describe(program.argument(3)), "argument 3");
  EXPECT_EQ(program.describe(program.constant(16)), "16");
  EXPECT_EQ(program.describe(program.add(n, n)), "");
}

TEST(RegisterProgram, CompactDropsWhatNobodyReadsAndKeepsOrder) {
  RegisterProgram program;
  Register unused = program.constant(7);
  Register n = program.dim(0, 0), four = program.constant(4);
  program.add(n, unused);
  Register bytes = program.mul(n, four);
  Register roots[] = {bytes, kNoRegister};
  std::vector<Register> numbers = program.compact(roots);
  EXPECT_EQ(numbers[unused], kNoRegister);
  EXPECT_EQ(numbers[n], 0u);
  EXPECT_EQ(numbers[four], 1u);
  EXPECT_EQ(numbers[bytes], 2u);
  ASSERT_EQ(program.operations().size(), 3u);
  RegisterOperation wanted{.opcode = Opcode::Mul, .a = 0, .b = 1};
  EXPECT_EQ(program.operations()[2], wanted);
  EXPECT_EQ(program.mul(0, 1), 2u) << "numbering goes on after compaction";
}

} // namespace
} // namespace tenon::compiler::host
