// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of linalg that are several loops: softmax is a maximum, exponentials, their sum and a quotient.
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

struct LowerSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op, PatternRewriter &rewriter) const override {
    // Of integers there is no softmax; MLIR's decomposition takes floats for granted.
    if (!op.hasPureTensorSemantics() || !isa<FloatType>(getElementTypeOrSelf(op.getInput().getType())))
      return failure();
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void addAggregatePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerSoftmax>(patterns.getContext());
}

} // namespace tenon::compiler::input
