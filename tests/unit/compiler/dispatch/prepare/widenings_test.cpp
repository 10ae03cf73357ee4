// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/widenings.h"

#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class Widenings : public KernelTextTest {
protected:
  /// An image of f16 as rows of f32, which `reader` reads.
  mlir::func::FuncOp made(const std::string &reader) {
    auto function = parseFunction(R"mlir(
#id = affine_map<(a, b, c) -> (a, b, c)>
#row = affine_map<(a, b, c) -> (a, b)>
func.func @f(%x: tensor<2x12x20xf16>, %m: tensor<2x80x16xf32>) -> tensor<2x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x12x20xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x12x20xf16>) outs(%e : tensor<2x12x20xf32>) {
    ^bb0(%a: f16, %o: f32):
      %b = arith.extf %a : f16 to f32
      linalg.yield %b : f32
  } -> tensor<2x12x20xf32>
  %c = tensor.collapse_shape %w [[0], [1, 2]] : tensor<2x12x20xf32> into tensor<2x240xf32>
  %r = tensor.expand_shape %c [[0], [1, 2]] output_shape [2, 3, 80] : tensor<2x240xf32> into tensor<2x3x80xf32>
  %es = tensor.empty() : tensor<2x3xf32>
  %fs = linalg.fill ins(%z : f32) outs(%es : tensor<2x3xf32>) -> tensor<2x3xf32>
)mlir" + reader + "\nreturn %s : tensor<2x3xf32>\n}");
    generalizeOperations(function);
    widenBehindReshapes(function);
    eraseDeadOperations(function);
    EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
    return function;
  }
};

TEST_F(Widenings, RowsOfANormAreReadNarrow) {
  auto function = made(R"mlir(
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%r : tensor<2x3x80xf32>) outs(%fs : tensor<2x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %b = arith.addf %a, %o : f32
      linalg.yield %b : f32
  } -> tensor<2x3xf32>)mlir");
  auto widening = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_TRUE(mlir::isa<mlir::arith::ExtFOp>(widening.getBody()->front()));
  auto read = widening.getDpsInputs()[0].getDefiningOp<mlir::tensor::ExpandShapeOp>();
  ASSERT_TRUE(read);
  EXPECT_TRUE(read.getResultType().getElementType().isF16());
  auto collapse = read.getSrc().getDefiningOp<mlir::tensor::CollapseShapeOp>();
  ASSERT_TRUE(collapse);
  EXPECT_EQ(collapse.getSrc(), function.getArgument(0));
}

TEST_F(Widenings, WhatAProductReadsIsLeftToItsRules) {
  auto function = made(R"mlir(
  %ep = tensor.empty() : tensor<2x3x16xf32>
  %fp = linalg.fill ins(%z : f32) outs(%ep : tensor<2x3x16xf32>) -> tensor<2x3x16xf32>
  %p = linalg.batch_matmul ins(%r, %m : tensor<2x3x80xf32>, tensor<2x80x16xf32>) outs(%fp : tensor<2x3x16xf32>) -> tensor<2x3x16xf32>
  %s = tensor.extract_slice %p[0, 0, 0] [2, 3, 1] [1, 1, 1] : tensor<2x3x16xf32> to tensor<2x3xf32>)mlir");
  auto widening = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(widening.getDpsInputs()[0], function.getArgument(0));
}

} // namespace
} // namespace tenon::compiler::dispatch
