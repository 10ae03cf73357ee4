// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/turned_result.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class TurnedResult : public KernelTextTest {
protected:
  /// result[c, x] = sum over k, rounded to bf16, and then `behind`.
  mlir::func::FuncOp sums(const std::string &behind) {
    return parseFunction(R"(
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>, %c: tensor<4x6xbf16>) -> tensor<4x6xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(c, x, k) -> (c, k)>, affine_map<(c, x, k) -> (x, k)>, affine_map<(c, x, k) -> (c, x)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x8xf32>, tensor<6x8xf32>) outs(%s : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %t, %m : f32
    linalg.yield %n : f32
  } -> tensor<4x6xf32>
  %o = tensor.empty() : tensor<4x6xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(c, x) -> (c, x)>, affine_map<(c, x) -> (c, x)>],
      iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x6xf32>) outs(%o : tensor<4x6xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x6xbf16>
)" + behind + "}");
  }
};

// What is computed from each element alone, but from nothing else, is computed in the new order.
TEST_F(TurnedResult, IsTurnedBehindWhatIsComputedFromEachElement) {
  mlir::func::FuncOp function = sums("  return %r : tensor<4x6xbf16>\n");
  mlir::linalg::GenericOp product = *function.getOps<mlir::linalg::GenericOp>().begin();
  turnResult(product, lastOrder(2, 0));
  EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(product.getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{6, 4}));
  auto turned = *function.getOps<mlir::linalg::TransposeOp>().begin();
  EXPECT_EQ(turned.getPermutation(), (llvm::ArrayRef<int64_t>{1, 0}));
  EXPECT_TRUE(llvm::cast<mlir::RankedTensorType>(turned.getInput().getType()).getElementType().isBF16());
  EXPECT_EQ(function.getBody().front().getTerminator()->getOperand(0), turned->getResult(0));
}

TEST_F(TurnedResult, SizesThatAreNotKnownAreTaken) {
  mlir::func::FuncOp function = parseFunction(R"(
func.func @f(%n: index, %a: tensor<4x8xf32>, %b: tensor<?x8xf32>) -> tensor<4x?xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<4x?xf32>) -> tensor<4x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(c, x, k) -> (c, k)>, affine_map<(c, x, k) -> (x, k)>, affine_map<(c, x, k) -> (c, x)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x8xf32>, tensor<?x8xf32>) outs(%s : tensor<4x?xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %m = arith.mulf %x, %y : f32
    %q = arith.addf %t, %m : f32
    linalg.yield %q : f32
  } -> tensor<4x?xf32>
  %o = tensor.empty(%n) : tensor<4x?xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(c, x) -> (c, x)>, affine_map<(c, x) -> (c, x)>],
      iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x?xf32>) outs(%o : tensor<4x?xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x?xbf16>
  return %r : tensor<4x?xbf16>
})");
  mlir::linalg::GenericOp product = *function.getOps<mlir::linalg::GenericOp>().begin();
  turnResult(product, lastOrder(2, 0));
  EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(product.getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{mlir::ShapedType::kDynamic, 4}));
}

TEST_F(TurnedResult, OtherOperandsStayAsTheyAre) {
  mlir::func::FuncOp function = sums(R"(
  %w = tensor.empty() : tensor<4x6xbf16>
  %v = linalg.generic {indexing_maps = [affine_map<(c, x) -> (c, x)>, affine_map<(c, x) -> (c, x)>, affine_map<(c, x) -> (c, x)>],
      iterator_types = ["parallel", "parallel"]} ins(%r, %c : tensor<4x6xbf16>, tensor<4x6xbf16>) outs(%w : tensor<4x6xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %q: bf16):
    %t = arith.addf %x, %y : bf16
    linalg.yield %t : bf16
  } -> tensor<4x6xbf16>
  return %v : tensor<4x6xbf16>
)");
  turnResult(*function.getOps<mlir::linalg::GenericOp>().begin(), lastOrder(2, 0));
  EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
  auto turned = *function.getOps<mlir::linalg::TransposeOp>().begin();
  auto reader = llvm::dyn_cast<mlir::linalg::GenericOp>(*turned->getResult(0).user_begin());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader.getNumDpsInputs(), 2);
}

} // namespace
} // namespace tenon::compiler::dispatch
