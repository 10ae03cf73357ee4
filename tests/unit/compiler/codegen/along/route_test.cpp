// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/route.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class RouteTest : public AlongTest {
protected:
  Plan planOf(int64_t experts, const std::string &rows = "300") {
    const std::string named = "tensor<" + rows + "xi32>", table = "tensor<?x4xi32>";
    AlongPlans plans = plansOf(
        {named, table},
        "route experts(" + std::to_string(experts) + ") ins(%x : " + named + ") outs(%y : " + table + ")", {table});
    EXPECT_EQ(plans.kernels.size(), 1u);
    EXPECT_TRUE(plans.scratch.empty());
    return plans.kernels.front();
  }
};

TEST_F(RouteTest, OneBlockOfAsManyWarpsAsHaveCounts) {
  EXPECT_EQ(planOf(8).threads, 512u);
  EXPECT_EQ(planOf(256).threads, 512u);
  EXPECT_EQ(planOf(1000).threads, 256u);
  EXPECT_EQ(planOf(2048).threads, 32u);
}

TEST_F(RouteTest, RowsAreWalkedThroughTwice) {
  mlir::LLVM::LLVMFuncOp kernel = emit(planOf(8, "?"));
  EXPECT_EQ(count(kernel, "nvvm.match.sync"), 16u);
}

} // namespace
} // namespace tenon::compiler::codegen
