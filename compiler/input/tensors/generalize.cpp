// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/tensors/generalize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

struct SplatToFill : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op, PatternRewriter &rewriter) const override {
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), op.getType(), op.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
    return success();
  }
};

struct Generalize : OpInterfaceRewritePattern<linalg::LinalgOp> {
  Generalize(MLIRContext *context, bool keepsFill) : OpInterfaceRewritePattern(context), keepsFill_(keepsFill) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp>(op) || (keepsFill_ && isa<linalg::FillOp>(op)) || !op.hasPureTensorSemantics())
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }

private:
  const bool keepsFill_;
};

} // namespace

void addSplatPatterns(RewritePatternSet &patterns) {
  patterns.add<SplatToFill>(patterns.getContext());
}

void addNamedPatterns(RewritePatternSet &patterns, bool keepsFill) {
  patterns.add<Generalize>(patterns.getContext(), keepsFill);
}

} // namespace tenon::compiler::input
