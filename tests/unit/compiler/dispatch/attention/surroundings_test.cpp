// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/surroundings.h"

#include "compiler/dispatch/attention/forms/open_forms.h"
#include "compiler/dispatch/attention/match.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

/// Queries, keys and values are the rows of `%name`, an image's places, times a matrix; heads are part of the batch.
std::string heads(const std::string &name, const std::string &from) {
  const std::string p = "%" + name;
  return p + "m = linalg.batch_matmul ins(" + from + ", %w : tensor<2x64x32xf32>, tensor<2x32x32xf32>) " +
         "outs(%f : tensor<2x64x32xf32>) -> tensor<2x64x32xf32>\n" + p + "4 = tensor.expand_shape " + p +
         "m [[0], [1], [2, 3]] output_shape [2, 64, 4, 8] : tensor<2x64x32xf32> into tensor<2x64x4x8xf32>\n" + p +
         "t = linalg.transpose ins(" + p + "4 : tensor<2x64x4x8xf32>) outs(%e4 : tensor<2x4x64x8xf32>) " +
         "permutation = [0, 2, 1, 3]\n" + p + " = tensor.collapse_shape " + p +
         "t [[0, 1], [2], [3]] : tensor<2x4x64x8xf32> into tensor<8x64x8xf32>\n";
}

std::string ofImage() {
  return R"mlir(
func.func @f(%image: tensor<2x8x8x32xf32>, %w: tensor<2x32x32xf32>) -> tensor<2x64x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
  %e4 = tensor.empty() : tensor<2x4x64x8xf32>
  %places = tensor.collapse_shape %image [[0], [1, 2], [3]] : tensor<2x8x8x32xf32> into tensor<2x64x32xf32>
)mlir" + heads("q", "%places") +
         heads("k", "%places") + heads("v", "%places") + R"mlir(
  %et = tensor.empty() : tensor<8x8x64xf32>
  %kk = linalg.transpose ins(%k : tensor<8x64x8xf32>) outs(%et : tensor<8x8x64xf32>) permutation = [0, 2, 1]
  %es = tensor.empty() : tensor<8x64x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %s = linalg.batch_matmul ins(%q, %kk : tensor<8x64x8xf32>, tensor<8x8x64xf32>) outs(%fs : tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<8x64x64xf32>) outs(%es : tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %eo = tensor.empty() : tensor<8x64x8xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x64x8xf32>) -> tensor<8x64x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<8x64x64xf32>, tensor<8x64x8xf32>) outs(%fo : tensor<8x64x8xf32>) -> tensor<8x64x8xf32>
  %o4 = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 64, 8] : tensor<8x64x8xf32> into tensor<2x4x64x8xf32>
  %er = tensor.empty() : tensor<2x64x4x8xf32>
  %r = linalg.transpose ins(%o4 : tensor<2x4x64x8xf32>) outs(%er : tensor<2x64x4x8xf32>) permutation = [0, 2, 1, 3]
  return %r : tensor<2x64x4x8xf32>
}
)mlir";
}

class SurroundingsTest : public KernelTextTest {
protected:
  /// As it comes to the pass.
  mlir::func::FuncOp parsePrepared() {
    auto function = parseFunction(ofImage());
    mlir::IRRewriter rewriter(function.getContext());
    for (auto softmax : llvm::to_vector(function.getOps<mlir::linalg::SoftmaxOp>())) {
      rewriter.setInsertionPoint(softmax);
      rewriter.replaceOp(softmax, *softmax.decomposeOperation(rewriter));
    }
    generalizeOperations(function);
    eraseDeadOperations(function);
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

TEST_F(SurroundingsTest, EverywhereKeysBecomeRowsAndColumnsOfTheImage) {
  auto function = parsePrepared();
  ASSERT_TRUE(attentionIn(function).has_value());
  openForms(function);
  EXPECT_FALSE(attentionIn(function).has_value());
}

TEST_F(SurroundingsTest, AroundTheAttentionHeadsAloneAreDivided) {
  auto function = parsePrepared();
  keepClosedElsewhere(function);
  openForms(function);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  const std::optional<AttentionMatch> found = attentionIn(function);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->parallel.size(), 3u); // batch, heads, queries
  // Read as the products in front have stored them, seen with heads.
  for (mlir::linalg::GenericOp op : {found->scores.front(), found->output})
    EXPECT_TRUE(op->getOperand(1).getDefiningOp<mlir::tensor::ExpandShapeOp>()) << op->getName().getStringRef().str();
  function.walk([](mlir::Operation *op) { EXPECT_FALSE(op->hasAttr("tenon.stays_closed")); });
}

} // namespace
} // namespace tenon::compiler::dispatch
