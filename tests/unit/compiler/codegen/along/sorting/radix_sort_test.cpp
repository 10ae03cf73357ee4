// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_sort.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class RadixSortTest : public AlongTest {
protected:
  std::optional<AlongPlans> radix(const std::string &shape, const std::string &type, const std::string &compare,
                                  unsigned operands = 1) {
    std::vector<std::string> tensors = {"tensor<" + shape + "x" + type + ">"};
    std::string names = "%x", types = tensors[0], arguments = "%a: " + type + ", %b: " + type;
    for (unsigned i = 1; i < operands; ++i) {
      tensors.push_back("tensor<" + shape + "xi32>");
      names += i == 1 ? ", %y" : ", %z";
      types += ", " + tensors.back();
      arguments += ", %a" + std::to_string(i) + ": i32, %b" + std::to_string(i) + ": i32";
    }
    kernel_ = read(tensors,
                   "sort dimension(0) outs(" + names + " : " + types + ") {\n^bb0(" + arguments + "):\n" + compare +
                       "\niree_linalg_ext.yield %s : i1\n}",
                   tensors);
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    return mlir::succeeded(kernel_) ? radixPlans(*kernel_, 512) : std::nullopt;
  }
};

TEST_F(RadixSortTest, ABlockSortsALineThatItHolds) {
  auto plans = radix("1000", "f32", "%s = arith.cmpf olt, %a, %b : f32");
  ASSERT_TRUE(plans);
  ASSERT_EQ(plans->kernels.size(), 1u);
  EXPECT_EQ(plans->kernels[0].threads * choice(plans->kernels[0], "items"), 1024);
  EXPECT_TRUE(plans->scratch.empty());
  EXPECT_FALSE(radix("100", "f32", "%s = arith.cmpf olt, %a, %b : f32")) << "too short";
}

TEST_F(RadixSortTest, ALongerOneInStepsOfAllBlocks) {
  auto plans = radix("20000", "f32", "%s = arith.cmpf olt, %a, %b : f32");
  ASSERT_TRUE(plans);
  EXPECT_EQ(plans->kernels.size(), 6u);
}

TEST_F(RadixSortTest, UnknownLengthsHaveGuardsThatLeaveNoneOut) {
  auto plans = radix("?", "f32", "%s = arith.cmpf olt, %a, %b : f32");
  ASSERT_TRUE(plans);
  for (int64_t length : {513, 1024, 1025, 4096, 4097, 1 << 19, (1 << 19) + 1, 1 << 30}) {
    unsigned lines = 0, steps = 0;
    for (const Plan &plan : plans->kernels) {
      ASSERT_EQ(plan.guards.size(), 1u);
      if (plan.guards[0].holdsFor(length))
        ++(choice(plan, "sweep") < 0 ? lines : steps);
    }
    EXPECT_EQ(lines, length <= 4096 ? 1u : 0u) << length;
    EXPECT_EQ(steps, length <= 4096 ? 0u : 6u) << length << ": cleared, counted, and four digits";
  }
}

TEST_F(RadixSortTest, OtherRegionsHaveNoDigits) {
  EXPECT_FALSE(radix("20000", "i32", "%t = arith.xori %a, %b : i32\n%s = arith.cmpi slt, %t, %b : i32"));
}

} // namespace
} // namespace tenon::compiler::codegen
