// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/experts/route_products.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/products/routes.h"
#include "tests/unit/compiler/dispatch/routed.h"

namespace tenon::compiler::dispatch {
namespace {

class RouteProducts : public KernelTextTest {
protected:
  mlir::func::FuncOp routed(const std::string &text) {
    mlir::func::FuncOp function = parseFunction(text);
    routeProducts(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
    return function;
  }
  static unsigned tablesOf(mlir::func::FuncOp function) {
    return llvm::range_size(function.getOps<linalg_ext::RouteOp>());
  }
};

TEST_F(RouteProducts, AProductGetsATableThatItsBodyDoesNotRead) {
  mlir::func::FuncOp function = routed(routedText());
  ASSERT_EQ(tablesOf(function), 1u);
  linalg_ext::RouteOp table = *function.getOps<linalg_ext::RouteOp>().begin();
  EXPECT_EQ(table.getExperts(), 8u);
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(function.getArgument(1), table.getNamed()) << "experts stand in memory as they are";
  EXPECT_TRUE(ops[0]->hasAttr(kRoutedAttr));
  EXPECT_EQ(ops[0].getDpsInputs().back(), table.getResult());
  EXPECT_TRUE(ops[0].getBody()->getArgument(2).use_empty());
  EXPECT_EQ(mlir::cast<mlir::RankedTensorType>(table.getResult().getType()).getDimSize(0), routeLines(8, 8));
}

TEST_F(RouteProducts, ExpertsThatAreComputedAreStored) {
  mlir::func::FuncOp function = routed(routedText("4", "%e, %k, %n", "8x32x16",
                                                  "%c = arith.constant 7 : i32\n%m = arith.minui %i, %c : i32\n"
                                                  "%e = arith.index_cast %m : i32 to index"));
  ASSERT_EQ(tablesOf(function), 1u);
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  ASSERT_EQ(ops.size(), 2u);
  linalg_ext::RouteOp table = *function.getOps<linalg_ext::RouteOp>().begin();
  EXPECT_EQ(ops[0]->getResult(0), table.getNamed());
  EXPECT_EQ(ops[0].getIndexingMapsArray().front(), mlir::AffineMap::getMultiDimIdentityMap(2, &context_));
}

TEST_F(RouteProducts, HowManyRowsThereAreMayBeUnknown) {
  mlir::func::FuncOp function = routed(routedText("?"));
  ASSERT_EQ(tablesOf(function), 1u);
  linalg_ext::RouteOp table = *function.getOps<linalg_ext::RouteOp>().begin();
  EXPECT_TRUE(mlir::cast<mlir::RankedTensorType>(table.getResult().getType()).isDynamicDim(0));
}

TEST_F(RouteProducts, ProductsOfTheSameRowsShareATable) {
  std::string text = routedText();
  const size_t first = text.find("%y = "), end = text.find("return");
  std::string second = text.substr(first, end - first);
  second.replace(0, 2, "%z");
  text.insert(end, second);
  text.replace(text.find("return %y"), 9, "%v = arith.addf %y, %z : tensor<4x2x16xf32>\nreturn %v");
  EXPECT_EQ(tablesOf(routed(text)), 1u);
}

TEST_F(RouteProducts, OthersStayAsTheyAre) {
  EXPECT_EQ(tablesOf(routed(routedText("4", "%t, %k, %n"))), 0u);
  EXPECT_EQ(tablesOf(routed(routedText("4", "%e, %k, %n", "5000x32x16"))), 0u) << "more experts than a table holds";
  EXPECT_EQ(tablesOf(parseFunction(kRowSum)), 0u);
}

} // namespace
} // namespace tenon::compiler::dispatch
