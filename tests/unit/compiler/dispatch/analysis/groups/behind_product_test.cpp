// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/behind_product.h"

#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class BehindProduct : public KernelTextTest {
protected:
  /// A product of f16 with sums of f32, which are rounded, and `behind`; the operations, in order.
  llvm::SmallVector<mlir::linalg::GenericOp> parsed(const std::string &read, bool isReadTwice = false) {
    auto function = parseFunction(R"mlir(
#id = affine_map<(i, j) -> (i, j)>
#read = affine_map<(i, j) -> )mlir" +
                                  read + R"mlir(>
func.func @f(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> (tensor<64x64xf16>, tensor<64x64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %h = tensor.empty() : tensor<64x64xf16>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#read, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<64x64xf32>) outs(%h : tensor<64x64xf16>) {
    ^bb0(%x: f32, %o: f16):
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
  } -> tensor<64x64xf16>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<64x64xf16>) outs(%h : tensor<64x64xf16>) {
    ^bb0(%x: f16, %o: f16):
      %y = arith.negf %x : f16
      linalg.yield %y : f16
  } -> tensor<64x64xf16>
  return %n, %)mlir" + (isReadTwice ? "s" : "e") +
                                  R"mlir( : tensor<64x64xf16>, tensor<64x64xf32>
})mlir");
    generalizeOperations(function);
    return llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  }
};

TEST_F(BehindProduct, WhatComesOfEachResultIsBehindTheProduct) {
  const auto ops = parsed("(i, j)");
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_FALSE(isBehindProduct(ops[0]));
  EXPECT_TRUE(isBehindProduct(ops[1]));
  EXPECT_TRUE(isBehindProduct(ops[2]));
  EXPECT_TRUE(narrowsProduct(ops[1]));
  EXPECT_FALSE(narrowsProduct(ops[2])); // narrow already
}

TEST_F(BehindProduct, SumsThatOthersReadAreStoredAnyway) {
  const auto ops = parsed("(i, j)", /*isReadTwice=*/true);
  EXPECT_FALSE(isBehindProduct(ops[1]));
  EXPECT_FALSE(narrowsProduct(ops[1]));
}

TEST_F(BehindProduct, OneResultForAllIsNotEachOfThem) {
  EXPECT_FALSE(isBehindProduct(parsed("(i, 0)")[1]));
}

} // namespace
} // namespace tenon::compiler::dispatch
