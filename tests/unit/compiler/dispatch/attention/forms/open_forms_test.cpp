// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/open_forms.h"

#include "compiler/dispatch/attention/match.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

// Products of heads that are part of the batch, keys that two heads share, softmax in four dimensions.
const char kFlat[] = R"mlir(
func.func @f(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x12x16xf32>, %v: tensor<2x2x12x16xf32>) -> tensor<2x4x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %ek = tensor.empty() : tensor<2x2x2x12x16xf32>
  %k5 = linalg.broadcast ins(%k : tensor<2x2x12x16xf32>) outs(%ek : tensor<2x2x2x12x16xf32>) dimensions = [2]
  %v5 = linalg.broadcast ins(%v : tensor<2x2x12x16xf32>) outs(%ek : tensor<2x2x2x12x16xf32>) dimensions = [2]
  %k3 = tensor.collapse_shape %k5 [[0, 1, 2], [3], [4]] : tensor<2x2x2x12x16xf32> into tensor<8x12x16xf32>
  %v3 = tensor.collapse_shape %v5 [[0, 1, 2], [3], [4]] : tensor<2x2x2x12x16xf32> into tensor<8x12x16xf32>
  %et = tensor.empty() : tensor<8x16x12xf32>
  %kt = linalg.transpose ins(%k3 : tensor<8x12x16xf32>) outs(%et : tensor<8x16x12xf32>) permutation = [0, 2, 1]
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x8x16xf32> into tensor<8x8x16xf32>
  %es = tensor.empty() : tensor<8x8x12xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x8x12xf32>) -> tensor<8x8x12xf32>
  %s3 = linalg.batch_matmul ins(%q3, %kt : tensor<8x8x16xf32>, tensor<8x16x12xf32>) outs(%fs : tensor<8x8x12xf32>) -> tensor<8x8x12xf32>
  %s4 = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 4, 8, 12] : tensor<8x8x12xf32> into tensor<2x4x8x12xf32>
  %e4 = tensor.empty() : tensor<2x4x8x12xf32>
  %w = linalg.softmax dimension(3) ins(%s4 : tensor<2x4x8x12xf32>) outs(%e4 : tensor<2x4x8x12xf32>) -> tensor<2x4x8x12xf32>
  %w3 = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x4x8x12xf32> into tensor<8x8x12xf32>
  %eo = tensor.empty() : tensor<8x8x16xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  %o3 = linalg.batch_matmul ins(%w3, %v3 : tensor<8x8x12xf32>, tensor<8x12x16xf32>) outs(%fo : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  %r = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 4, 8, 16] : tensor<8x8x16xf32> into tensor<2x4x8x16xf32>
  return %r : tensor<2x4x8x16xf32>
}
)mlir";

class OpenFormsTest : public KernelTextTest {
protected:
  /// As it comes to the pass: softmax is a maximum, exponentials, a sum and a division.
  mlir::func::FuncOp parseDecomposed(const std::string &text) {
    auto function = parseFunction(text);
    mlir::IRRewriter rewriter(function.getContext());
    for (auto softmax : llvm::to_vector(function.getOps<mlir::linalg::SoftmaxOp>())) {
      rewriter.setInsertionPoint(softmax);
      rewriter.replaceOp(softmax, *softmax.decomposeOperation(rewriter));
    }
    return function;
  }

  static std::optional<AttentionMatch> attentionIn(mlir::func::FuncOp function) {
    std::optional<AttentionMatch> found;
    std::string reason;
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      if (auto match = matchAttention(op, reason))
        found = match;
    return found;
  }
};

TEST_F(OpenFormsTest, ProductsHaveTheDimensionsOfTheSoftmax) {
  auto function = parseDecomposed(kFlat);
  generalizeOperations(function);
  eraseDeadOperations(function);
  EXPECT_FALSE(attentionIn(function).has_value());
  EXPECT_TRUE(hasClosedForms(function));
  openForms(function);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  auto found = attentionIn(function);
  ASSERT_TRUE(found.has_value());
  // Keys and values are read where they are: once for both heads that share them.
  for (mlir::linalg::GenericOp op : {found->scores.front(), found->output}) {
    auto right = mlir::dyn_cast<mlir::BlockArgument>(op->getOperand(1));
    ASSERT_TRUE(right) << "of " << messages_;
    EXPECT_EQ(right.getArgNumber(), op == found->scores.front() ? 1u : 2u);
  }
  EXPECT_EQ(found->parallel.size(), 4u); // batch, heads of keys, heads that share them, queries
}

TEST_F(OpenFormsTest, OneProductHasNothingToOpen) {
  auto function = parseFunction(kRowSum);
  EXPECT_FALSE(hasClosedForms(function));
}

} // namespace
} // namespace tenon::compiler::dispatch
