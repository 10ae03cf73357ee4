// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/order.h"

#include "tests/unit/compiler/codegen/along/plans.h"
#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

using OrderTest = KernelWriterTest;

TEST_F(OrderTest, TheLeastPowerOfTwoThatIsEnough) {
  for (auto [count, bits] : {std::pair(0, 0), {1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {1024, 10}, {1025, 11}}) {
    KernelBuilder &k = begin();
    mlir::Value found = bitsFor(k, k.number(count));
    // 64 less the leading zeros of what is below the count.
    auto difference = found.getDefiningOp<mlir::arith::SubIOp>();
    ASSERT_TRUE(difference);
    mlir::Value zeros = difference.getRhs();
    const std::optional<int64_t> below = constant(zeros.getDefiningOp()->getOperand(0));
    ASSERT_TRUE(below);
    EXPECT_EQ(64 - llvm::countl_zero(uint64_t(*below)), bits) << count;
  }
}

class OrderOfRegionTest : public AlongTest {
protected:
  mlir::LLVM::LLVMFuncOp sort(const std::string &type, const std::string &compare) {
    const std::string tensor = "tensor<64x" + type + ">";
    AlongPlans plans = plansOf({tensor},
                               "sort dimension(0) outs(%x : " + tensor + ") {\n^bb0(%a: " + type + ", %b: " + type +
                                   "):\n%s = " + compare + " %a, %b : " + type + "\niree_linalg_ext.yield %s : i1\n}",
                               {tensor});
    EXPECT_EQ(plans.kernels.size(), 1u);
    return emit(plans.kernels.front());
  }
  static unsigned comparisons(mlir::LLVM::LLVMFuncOp kernel, mlir::arith::CmpFPredicate predicate) {
    unsigned found = 0;
    kernel.walk([&](mlir::arith::CmpFOp op) { found += op.getPredicate() == predicate; });
    return found;
  }
};

TEST_F(OrderOfRegionTest, NaNsAreBehindAllNumbers) {
  using enum mlir::arith::CmpFPredicate;
  for (auto [text, first, other] : {std::tuple("arith.cmpf ult,", OLT, OGT), {"arith.cmpf oge,", OGT, OLT}}) {
    auto kernel = sort("f32", text);
    EXPECT_GT(comparisons(kernel, first), 0u);
    EXPECT_EQ(comparisons(kernel, other), 0u);
    EXPECT_EQ(comparisons(kernel, ORD), comparisons(kernel, first));
    EXPECT_EQ(comparisons(kernel, UNO), comparisons(kernel, first));
  }
}

TEST_F(OrderOfRegionTest, IntegersAreComparedAsTheRegionSays) {
  unsigned found = 0;
  sort("i32", "arith.cmpi sge,").walk([&](mlir::arith::CmpIOp op) {
    found += op.getPredicate() == mlir::arith::CmpIPredicate::sge;
  });
  EXPECT_GT(found, 0u);
}

} // namespace
} // namespace tenon::compiler::codegen
