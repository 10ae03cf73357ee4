// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/tensors/generalize.h"

#include "compiler/dialect/tile_side.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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
    const Attribute side = op->getAttr(kTileSideAttr);
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (succeeded(made) && side)
      (*made)->setAttr(kTileSideAttr, side);
    return made;
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

void generalizeFolded(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    auto type = isa<arith::XOrIOp, arith::CmpIOp>(op) ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                                      : RankedTensorType();
    if (type && !type.hasStaticShape())
      found.push_back(op);
  });
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps).enableFolding(false);
  if (!found.empty())
    (void)applyOpPatternsGreedily(found, std::move(patterns), config);
}

} // namespace tenon::compiler::input
