// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/slices.h"

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

} // namespace
} // namespace tenon::compiler::dispatch
