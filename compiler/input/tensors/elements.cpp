// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors made element by element: a body of the user's, a list of scalars, one element exchanged.
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

struct LowerGenerate : OpRewritePattern<tensor::GenerateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::GenerateOp op, PatternRewriter &rewriter) const override {
    if (!op.getBody().hasOneBlock())
      return failure();
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<OpFoldResult> sizes;
    unsigned next = 0;
    for (int64_t size : type.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? OpFoldResult(op.getDynamicExtents()[next++])
                                                  : OpFoldResult(rewriter.getIndexAttr(size)));
    Value result = buildElements(rewriter, op.getLoc(), type, sizes, [&](OpBuilder &b, Location, ValueRange indices) {
      IRMapping mapping;
      mapping.map(op.getBody().getArguments(), indices);
      Block &body = op.getBody().front();
      for (Operation &inner : body.without_terminator())
        b.clone(inner, mapping);
      return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
    });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerInsert : OpRewritePattern<tensor::InsertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertOp op, PatternRewriter &rewriter) const override {
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getDest());
    Value result = buildElements(
        rewriter, op.getLoc(), cast<RankedTensorType>(op.getType()), sizes,
        [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
          Value isHere;
          for (auto [index, wanted] : llvm::zip_equal(indices, op.getIndices()))
            isHere = both(b, loc, isHere, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index, wanted));
          if (!isHere)
            return op.getScalar();
          Value old = readElement(b, loc, op.getDest(), indices);
          return arith::SelectOp::create(b, loc, isHere, op.getScalar(), old);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

// Each scalar is a parameter of the kernel.
constexpr size_t kMostScalars = 64;

/// Scalars that differ, in the order of the elements; a list longer than one kernel takes is joined from parts.
struct LowerFromElements : OpRewritePattern<tensor::FromElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::FromElementsOp op, PatternRewriter &rewriter) const override {
    const Location where = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    if (op.getElements().empty()) {
      rewriter.replaceOp(op, buildEmpty(rewriter, where, type, {}));
      return success();
    }
    if (type.getRank() <= 1 && op.getElements().size() <= kMostScalars) {
      rewriter.replaceOp(op, choose(op.getElements(), type, where, rewriter));
      return success();
    }
    SmallVector<Value> parts;
    for (ValueRange rest = op.getElements(); !rest.empty();) {
      const size_t count = std::min(rest.size(), kMostScalars);
      auto part = RankedTensorType::get({int64_t(count)}, type.getElementType());
      parts.push_back(choose(rest.take_front(count), part, where, rewriter));
      rest = rest.drop_front(count);
    }
    Value flat = parts.size() == 1 ? parts[0] : tensor::ConcatOp::create(rewriter, where, /*dim=*/0, parts).getResult();
    if (type.getRank() == 1) {
      rewriter.replaceOp(op, flat);
      return success();
    }
    SmallVector<ReassociationIndices> groups(1, llvm::to_vector(llvm::seq<int64_t>(type.getRank())));
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, flat, groups);
    return success();
  }

private:
  static Value choose(ValueRange scalars, RankedTensorType type, Location where, OpBuilder &builder) {
    SmallVector<OpFoldResult> sizes(type.getRank(), builder.getIndexAttr(scalars.size()));
    return buildElements(builder, where, type, sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
      Value value = scalars.back();
      for (size_t number = scalars.size() - 1; number-- > 0;) {
        Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, indices[0],
                                             arith::ConstantIndexOp::create(b, loc, number));
        value = arith::SelectOp::create(b, loc, isHere, scalars[number], value);
      }
      return value;
    });
  }
};

} // namespace

void addElementPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerFromElements, LowerGenerate, LowerInsert>(patterns.getContext());
}

} // namespace tenon::compiler::input
