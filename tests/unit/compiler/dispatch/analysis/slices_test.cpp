// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/slices.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace tenon::compiler::dispatch {
namespace {

TEST(Slices, NameEachElementOnce) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto named = [&](llvm::ArrayRef<mlir::AffineExpr> results) {
    return namesEachOnce(mlir::AffineMap::get(2, 0, results, &context));
  };
  const mlir::AffineExpr i = mlir::getAffineDimExpr(0, &context), j = mlir::getAffineDimExpr(1, &context);
  EXPECT_TRUE(named({i, j}));
  EXPECT_TRUE(named({j, i}));
  EXPECT_TRUE(named({i + 3, j - 1}));
  EXPECT_FALSE(named({i, i + 1}));
  EXPECT_FALSE(named({i + j, j}));
  EXPECT_FALSE(named({i * 2, j}));
  EXPECT_FALSE(named({i}));
}

class Copies : public KernelTextTest {
protected:
  mlir::linalg::GenericOp turned(const std::string &body) {
    return firstGeneric(R"mlir(
    func.func @f(%a: tensor<4x6xf32>, %e: tensor<6x4xf32>) -> tensor<6x4xf32> {
      %c = arith.constant 1.0 : f32
      %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) {
        ^bb0(%x: f32, %o: f32):
          )mlir" + body +
                        R"mlir(
      } -> tensor<6x4xf32>
      return %0 : tensor<6x4xf32>
    })mlir");
  }
};

TEST_F(Copies, PassOnWhatTheyRead) {
  EXPECT_TRUE(isCopy(turned("linalg.yield %x : f32")));
  EXPECT_FALSE(isCopy(turned("linalg.yield %o : f32")));
  EXPECT_FALSE(isCopy(turned("linalg.yield %c : f32")));
  EXPECT_FALSE(isCopy(turned("%n = arith.negf %x : f32 linalg.yield %n : f32")));
}

} // namespace
} // namespace tenon::compiler::dispatch
