// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/routes.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "tests/unit/compiler/dispatch/routed.h"

namespace tenon::compiler::dispatch {
namespace {

using Loops = llvm::SmallVector<unsigned, 4>;

class RoutesTest : public KernelTextTest {
protected:
  std::optional<RoutedWeights> weightsOf(const std::string &text) {
    mlir::linalg::GenericOp op = firstGeneric(text);
    mlir::Value read = (*op.getBody()->getOps<mlir::tensor::ExtractOp>().begin()).getResult();
    return routedWeightsOf(read, op);
  }
};

TEST_F(RoutesTest, ARowNamesOnePlaceOfTheWeights) {
  const auto found = weightsOf(routedText());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->experts, 8);
  EXPECT_EQ(found->dimension, 0u);
  EXPECT_EQ(found->inputs, (llvm::SmallVector<unsigned, 2>{1}));
  EXPECT_EQ(found->map.getResult(0), mlir::getAffineConstantExpr(0, &context_));
  EXPECT_EQ(found->map.getResult(1), mlir::getAffineDimExpr(3, &context_));
  EXPECT_EQ(found->map.getResult(2), mlir::getAffineDimExpr(2, &context_));
}

TEST_F(RoutesTest, ExpertsMayBeAnyDimensionAndComputed) {
  const auto last = weightsOf(routedText("4", "%n, %k, %e", "16x32x8"));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->dimension, 2u);
  EXPECT_TRUE(weightsOf(routedText("?", "%e, %k, %n", "8x32x16",
                                   "%c = arith.constant 7 : i32\n%m = arith.minui %i, %c : i32\n"
                                   "%e = arith.index_cast %m : i32 to index")));
}

TEST_F(RoutesTest, OtherReadsAreNone) {
  EXPECT_FALSE(weightsOf(routedText("4", "%t, %k, %n"))) << "no input names it";
  EXPECT_FALSE(weightsOf(routedText("4", "%e, %k, %n", "8x64x16"))) << "some of each matrix";
  EXPECT_FALSE(weightsOf(routedText("4", "%e, %k, %n", "?x32x16"))) << "nobody knows how many experts";
  EXPECT_FALSE(weightsOf(routedText("4", "%e, %e, %n", "8x8x16"))) << "two named places";
  EXPECT_FALSE(weightsOf(routedText("4", "%e, %k, %k", "8x32x32"))) << "a diagonal";
  EXPECT_FALSE(weightsOf(routedText("4", "%e, %k, %n", "8x32x16",
                                    "%c = linalg.index 2 : index\n%v = arith.index_cast %i : i32 to index\n"
                                    "%e = arith.addi %c, %v : index")))
      << "it depends on the column";
}

TEST_F(RoutesTest, RowsAreWhatTheWeightsDoNotHave) {
  mlir::linalg::GenericOp op = firstGeneric(routedText());
  EXPECT_FALSE(contractionOf(op)) << "it is none without its table";
  op->setAttr(kRoutedAttr, mlir::UnitAttr::get(&context_));
  const auto product = contractionOf(op);
  ASSERT_TRUE(product);
  EXPECT_TRUE(product->isRouted());
  EXPECT_EQ(product->rows, (Loops{0, 1}));
  EXPECT_EQ(product->columns, Loops{2});
  EXPECT_EQ(product->reduced, Loops{3});
  EXPECT_TRUE(product->batch.empty());
  EXPECT_EQ(product->left.inputs, (llvm::SmallVector<unsigned, 2>{0}));
  EXPECT_FALSE(fewRowsOf(*product));
}

TEST_F(RoutesTest, EachExpertMayLeaveATileThatIsNotFull) {
  EXPECT_EQ(routeLines(0, 1), 1 + 1 + 1 + 1 + 1);
  EXPECT_EQ(routeLines(300, 5), 1 + (4 + 5) + (2 + 5) + (1 + 5) + 76);
  EXPECT_EQ(routeLines(301, 5), 1 + (4 + 5) + (2 + 5) + (1 + 5) + 76);
}

} // namespace
} // namespace tenon::compiler::dispatch
