// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/plan/register_program.h"

#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

#include <limits>

namespace tenon::runtime {

using namespace tenon::test;
using abi::fb::RegisterOp;
using enum abi::fb::RegisterOpcode;

static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

/// Runs the operations as function 'f' with a scalar input -7 and a tensor input of shape 3x5.
static Result<std::vector<int64_t>> run(std::vector<RegisterOp> registers) {
  FunctionSpec function;
  function.name = "f";
  function.inputs = {{abi::ElementType::I32, {}, true}, {abi::ElementType::F32, {-1, -1}, false}};
  function.registers = std::move(registers);
  const AlignedBytes bytes = buildProgram({function}, {});
  const Value inputs[] = {Scalar{abi::ElementType::I32, -7}, Tensor{abi::ElementType::F32, {3, 5}, nullptr}};
  return runRegisterProgram(*abi::fb::GetProgram(bytes.span().data())->functions()->Get(0), inputs);
}

static RegisterOp constant(int64_t value) {
  return RegisterOp(Const, 0, 0, 0, value);
}

/// The value of `opcode` over two constants.
static Result<std::vector<int64_t>> binary(abi::fb::RegisterOpcode opcode, int64_t a, int64_t b) {
  return run({constant(a), constant(b), RegisterOp(opcode, 0, 1, 0, 0)});
}

TEST(RegisterProgram, ReadsInputs) {
  auto values = run({RegisterOp(Arg, 0, 0, 0, 0), RegisterOp(Dim, 1, 0, 0, 0), RegisterOp(Dim, 1, 1, 0, 0)});
  ASSERT_OK(values.status());
  EXPECT_EQ(*values, (std::vector<int64_t>{-7, 3, 5}));
}

TEST(RegisterProgram, AnEmptyProgramHasNoRegisters) {
  EXPECT_TRUE(run({})->empty());
}

TEST(RegisterProgram, ComputesEveryOperation) {
  struct Case {
    abi::fb::RegisterOpcode opcode;
    int64_t a, b, expected;
  };
  for (const Case &c : {Case{Add, 2, 3, 5},        Case{Sub, 2, 3, -1},
                        Case{Mul, -4, 3, -12},     Case{FloorDiv, 7, 2, 3},
                        Case{FloorDiv, -7, 2, -4}, Case{FloorDiv, 7, -2, -4},
                        Case{FloorDiv, -7, -2, 3}, Case{CeilDiv, 7, 2, 4},
                        Case{CeilDiv, -7, 2, -3},  Case{CeilDiv, kMax, 1, kMax},
                        Case{DivTrunc, -7, 2, -3}, Case{Mod, -7, 3, 2},
                        Case{Mod, 7, -3, -2},      Case{Mod, kMin, -1, 0},
                        Case{RemTrunc, -7, 3, -1}, Case{RemTrunc, kMin, -1, 0},
                        Case{Min, -1, 1, -1},      Case{Max, -1, 1, 1},
                        Case{And, 12, 10, 8},      Case{Or, 12, 10, 14},
                        Case{Xor, 12, 10, 6},      Case{Eq, 4, 4, 1},
                        Case{Eq, 4, 5, 0},         Case{Lt, -1, 0, 1},
                        Case{Lt, 0, 0, 0},         Case{Align, 65, 64, 128},
                        Case{Align, 64, 64, 64},   Case{Align, 0, 64, 0},
                        Case{Align, -5, 4, -4}}) {
    auto values = binary(c.opcode, c.a, c.b);
    ASSERT_OK(values.status());
    EXPECT_EQ(values->back(), c.expected) << abi::fb::EnumNameRegisterOpcode(c.opcode) << ' ' << c.a << ' ' << c.b;
  }
}

TEST(RegisterProgram, SelectsAndExtends) {
  auto values = run({constant(0x1ff), constant(0), RegisterOp(Select, 0, 1, 0, 0), RegisterOp(Select, 1, 1, 0, 0),
                     RegisterOp(SignExtend, 0, 0, 0, 8), RegisterOp(ZeroExtend, 0, 0, 0, 8),
                     RegisterOp(SignExtend, 0, 0, 0, 64), RegisterOp(SignExtend, 0, 0, 0, 1)});
  ASSERT_OK(values.status());
  EXPECT_EQ(*values, (std::vector<int64_t>{0x1ff, 0, 0, 0x1ff, -1, 255, 0x1ff, -1}));
}

TEST(RegisterProgram, NamesOverflow) {
  EXPECT_STATUS(binary(Mul, int64_t(1) << 62, 2).status(), OutOfRange,
                "function 'f': register 2 (Mul of 4611686018427387904 and 2) overflows 64 bits");
  EXPECT_STATUS(binary(Add, kMax, 1).status(), OutOfRange, "(Add of 9223372036854775807 and 1) overflows 64 bits");
  EXPECT_STATUS(binary(Sub, kMin, 1).status(), OutOfRange, "overflows 64 bits");
  EXPECT_STATUS(binary(FloorDiv, kMin, -1).status(), OutOfRange, "overflows 64 bits");
  EXPECT_STATUS(binary(Align, kMax, 64).status(), OutOfRange, "overflows 64 bits");
}

TEST(RegisterProgram, NamesDivisionByZero) {
  for (auto opcode : {FloorDiv, CeilDiv, DivTrunc, Mod, RemTrunc})
    EXPECT_STATUS(binary(opcode, 5, 0).status(), InvalidArgument, "of 5 by 0): division by zero");
  EXPECT_STATUS(binary(Mod, 5, 0).status(), InvalidArgument, "function 'f': register 2 (Mod");
  EXPECT_STATUS(binary(Align, 5, 0).status(), InvalidArgument, "(Align to 0): an alignment is positive");
}

// The verifier refuses these; the interpreter does not crash on them.
TEST(RegisterProgram, RefusesWhatTheVerifierRefuses) {
  EXPECT_STATUS(run({RegisterOp(Arg, 1, 0, 0, 0)}).status(), InvalidArgument, "no such input or dimension");
  EXPECT_STATUS(run({RegisterOp(Dim, 1, 2, 0, 0)}).status(), InvalidArgument, "no such input or dimension");
  EXPECT_STATUS(run({constant(1), RegisterOp(SignExtend, 0, 0, 0, 65)}).status(), InvalidArgument,
                "a width is 1 to 64 bits");
}

} // namespace tenon::runtime
