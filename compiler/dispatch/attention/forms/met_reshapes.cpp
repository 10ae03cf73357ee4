// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/met_reshapes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The dimensions that both shapes can be made of by taking some together: as many as there are. Elements are as many
/// in both, and none are 0.
SmallVector<int64_t> commonDimensions(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> common;
  size_t nextOfA = 0, nextOfB = 0;
  int64_t ofA = 1, ofB = 1;
  while (nextOfA < a.size() || nextOfB < b.size()) {
    if (ofA <= ofB && nextOfA < a.size())
      ofA *= a[nextOfA++];
    else if (nextOfB < b.size())
      ofB *= b[nextOfB++];
    else
      ofA *= a[nextOfA++];
    if (ofA == ofB && ofA != 1) {
      common.push_back(ofA);
      ofA = ofB = 1;
    }
  }
  return common;
}

/// Which dimensions of `longer` each of `shorter` is made of; those of one go with the one in front of them.
SmallVector<ReassociationIndices> groupsOf(ArrayRef<int64_t> longer, ArrayRef<int64_t> shorter) {
  SmallVector<ReassociationIndices> groups(shorter.size());
  size_t group = 0;
  int64_t product = 1;
  for (auto [dimension, size] : llvm::enumerate(longer)) {
    if (size != 1 && product == shorter[group]) {
      ++group;
      product = 1;
    }
    groups[group].push_back(int64_t(dimension));
    product *= size;
  }
  return groups;
}

struct MeetReshapes : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse || !collapse.getSrcType().hasStaticShape() || !op.getResultType().hasStaticShape() ||
        llvm::is_contained(op.getResultType().getShape(), 0))
      return failure();
    const ArrayRef<int64_t> from = collapse.getSrcType().getShape(), to = op.getResultType().getShape();
    const SmallVector<int64_t> common = commonDimensions(from, to);
    auto between = RankedTensorType::get(common, op.getResultType().getElementType());
    // More dimensions stay each time.
    if (between.getRank() <= collapse.getResultType().getRank())
      return failure();
    Value source = collapse.getSrc();
    if (between.getRank() < int64_t(from.size()))
      source = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), between, source, groupsOf(from, common));
    if (between.getRank() < int64_t(to.size()))
      source = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), op.getResultType(), source, groupsOf(to, common));
    rewriter.replaceOp(op, source);
    return success();
  }
};

} // namespace

void addMetReshapes(RewritePatternSet &patterns) {
  patterns.add<MeetReshapes>(patterns.getContext());
}

} // namespace tenon::compiler::dispatch
