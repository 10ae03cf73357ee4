// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/loop_reads.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tenon::compiler::dispatch {
namespace {

class LoopReads : public KernelTextTest {};

// A look-up of what lies at the loops, as importers write an index that may count from the end.
TEST_F(LoopReads, WhatIsReadAtTheLoopsIsAnOperand) {
  auto function = parseFunction(R"mlir(
    func.func @f(%m: tensor<2x24xi1>, %a: tensor<2x8x24xf32>) -> tensor<2x8x24xf32> {
      %zero = arith.constant 0 : i64
      %n = arith.constant 2 : i64
      %h = arith.constant -1.0 : f32
      %e = tensor.empty() : tensor<2x8x24xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q, k)>],
          iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a : tensor<2x8x24xf32>) outs(%e : tensor<2x8x24xf32>) {
        ^bb0(%x: f32, %o: f32):
          %i = linalg.index 0 : index
          %c = arith.index_cast %i : index to i64
          %l = arith.cmpi slt, %c, %zero : i64
          %s = arith.addi %c, %n : i64
          %t = arith.select %l, %s, %c : i64
          %u = arith.index_cast %t : i64 to index
          %k = linalg.index 2 : index
          %v = tensor.extract %m[%u, %k] : tensor<2x24xi1>
          %w = arith.select %v, %x, %h : f32
          linalg.yield %w : f32
      } -> tensor<2x8x24xf32>
      return %0 : tensor<2x8x24xf32>
    })mlir");
  mlir::RewritePatternSet patterns(&context_);
  addLoopReads(patterns);
  EXPECT_TRUE(succeeded(mlir::applyPatternsGreedily(function, std::move(patterns))));
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  ASSERT_EQ(op.getNumDpsInputs(), 2);
  EXPECT_EQ(op.getDpsInputs()[1], function.getArgument(0));
  EXPECT_TRUE(op.getBody()->getOps<mlir::tensor::ExtractOp>().empty());
  EXPECT_TRUE(op.getBody()->getOps<mlir::arith::CmpIOp>().empty());
}

} // namespace
} // namespace tenon::compiler::dispatch
