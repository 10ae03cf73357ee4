// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/loop_reads.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tenon::compiler::dispatch {
namespace {

class LoopReads : public KernelTextTest {
protected:
  /// The first operation of the function, behind the patterns.
  mlir::linalg::GenericOp rewritten(const std::string &text) {
    auto function = parseFunction(text);
    mlir::RewritePatternSet patterns(&context_);
    addLoopReads(patterns);
    EXPECT_TRUE(succeeded(mlir::applyPatternsGreedily(function, std::move(patterns))));
    return *function.getOps<mlir::linalg::GenericOp>().begin();
  }
  mlir::Value argument(unsigned number) { return (*module_->getOps<mlir::func::FuncOp>().begin()).getArgument(number); }
};

// A look-up of what lies at the loops, as importers write an index that may count from the end.
TEST_F(LoopReads, WhatIsReadAtTheLoopsIsAnOperand) {
  auto op = rewritten(R"mlir(
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
  ASSERT_EQ(op.getNumDpsInputs(), 2);
  EXPECT_EQ(op.getDpsInputs()[1], argument(0));
  EXPECT_TRUE(op.getBody()->getOps<mlir::tensor::ExtractOp>().empty());
  EXPECT_TRUE(op.getBody()->getOps<mlir::arith::CmpIOp>().empty());
}

// The average of a whole image, as importers write it: comparisons of the places with its sizes.
TEST_F(LoopReads, SumsReadAtTheirLoopsWhatIsAsLongAsThese) {
  auto op = rewritten(R"mlir(
    func.func @f(%a: tensor<2x8x24xf32>, %window: tensor<24xi1>, %start: tensor<2x8xf32>) -> tensor<2x8xf32> {
      %zero = arith.constant 0.0 : f32
      %n = arith.constant 24 : index
      %0 = linalg.generic {indexing_maps = [affine_map<(b, c, k) -> (k)>, affine_map<(b, c, k) -> (b, c)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%window : tensor<24xi1>) outs(%start : tensor<2x8xf32>) {
        ^bb0(%w: i1, %o: f32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %k = linalg.index 2 : index
          %v = tensor.extract %a[%i, %j, %k] : tensor<2x8x24xf32>
          %l = arith.cmpi ult, %k, %n : index
          %s = arith.select %l, %v, %zero : f32
          %t = arith.addf %o, %s : f32
          linalg.yield %t : f32
      } -> tensor<2x8xf32>
      return %0 : tensor<2x8xf32>
    })mlir");
  ASSERT_EQ(op.getNumDpsInputs(), 2);
  EXPECT_EQ(op.getDpsInputs()[1], argument(0));
  EXPECT_TRUE(op.getBody()->getOps<mlir::arith::SelectOp>().empty());
}

// A gather keeps its places inside of the tensor, and a loop's are.
TEST_F(LoopReads, APlaceThatIsKeptInsideIsTheLoops) {
  auto text = [](const std::string &less) {
    return R"mlir(
    func.func @f(%m: tensor<1x?xi1>, %a: tensor<8x?xf32>) -> tensor<8x?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %n = tensor.dim %m, %c1 : tensor<1x?xi1>
      %last = arith.subi %n, )mlir" +
           less + R"mlir( : index
      %h = arith.constant -1.0 : f32
      %e = tensor.empty(%n) : tensor<8x?xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(q, k) -> (q, k)>, affine_map<(q, k) -> (q, k)>],
          iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x?xf32>) outs(%e : tensor<8x?xf32>) {
        ^bb0(%x: f32, %o: f32):
          %i = linalg.index 1 : index
          %j = arith.minsi %i, %last : index
          %k = arith.maxsi %j, %c0 : index
          %v = tensor.extract %m[%c0, %k] : tensor<1x?xi1>
          %w = arith.select %v, %x, %h : f32
          linalg.yield %w : f32
      } -> tensor<8x?xf32>
      return %0 : tensor<8x?xf32>
    })mlir";
  };
  auto op = rewritten(text("%c1"));
  ASSERT_EQ(op.getNumDpsInputs(), 2);
  EXPECT_EQ(op.getDpsInputs()[1], argument(0));
  EXPECT_EQ(op.getMatchingIndexingMap(op.getDpsInputOperand(1)),
            mlir::AffineMap::get(
                2, 0, {mlir::getAffineConstantExpr(0, &context_), mlir::getAffineDimExpr(1, &context_)}, &context_));
  EXPECT_EQ(rewritten(text("%c2")).getNumDpsInputs(), 1) << "one place is another than the loop's";
}

// The mask is as long as somebody says, and the loop as long as somebody else does.
TEST_F(LoopReads, UnknownSizesMustBeTheSame) {
  auto op = rewritten(R"mlir(
    func.func @f(%m: tensor<?xi1>, %a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
      %h = arith.constant -1.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>],
          iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
        ^bb0(%x: f32, %o: f32):
          %i = linalg.index 0 : index
          %v = tensor.extract %m[%i] : tensor<?xi1>
          %w = arith.select %v, %x, %h : f32
          linalg.yield %w : f32
      } -> tensor<?xf32>
      return %0 : tensor<?xf32>
    })mlir");
  EXPECT_EQ(op.getNumDpsInputs(), 1);
}

// One less, and the last place is not below.
TEST_F(LoopReads, AComparisonThatALoopMayPassStays) {
  for (const char *comparison :
       {"ult, %k, %short", "slt, %k, %short", "sge, %k, %short", "ult, %k, %below", "eq, %k, %n"}) {
    auto op = rewritten(std::string(R"mlir(
    func.func @f(%e: tensor<24xi1>) -> tensor<24xi1> {
      %n = arith.constant 24 : index
      %short = arith.constant 23 : index
      %below = arith.constant -1 : index
      %0 = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>], iterator_types = ["parallel"]}
          outs(%e : tensor<24xi1>) {
        ^bb0(%o: i1):
          %k = linalg.index 0 : index
          %l = arith.cmpi )mlir") +
                        comparison + R"mlir( : index
          linalg.yield %l : i1
      } -> tensor<24xi1>
      return %0 : tensor<24xi1>
    })mlir");
    EXPECT_FALSE(op.getBody()->getOps<mlir::arith::CmpIOp>().empty()) << comparison;
  }
}

} // namespace
} // namespace tenon::compiler::dispatch
