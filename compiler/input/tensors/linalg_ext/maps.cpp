// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements at places that a body computes from where they stand: iree_linalg_ext.map_load reads them there, map_store
// writes them there.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

SmallVector<Value> copyBody(OpBuilder &b, Region &region, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(region.front().getArguments(), arguments);
  for (Operation &inner : region.front().without_terminator())
    b.clone(inner, mapping);
  SmallVector<Value> results;
  for (Value yielded : region.front().getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(yielded));
  return results;
}

/// What lies outside of the input is the value that the body gives for that.
template <typename Op> struct LowerLoad : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    const Window whole(rewriter, op.getLoc(), op.getInput());
    Value result =
        buildElements(rewriter, op.getLoc(), type, tensor::getMixedSizes(rewriter, op.getLoc(), op.getOutput()),
                      [&](OpBuilder &b, Location loc, ValueRange indices) {
                        SmallVector<Value> yielded = copyBody(b, op.getRegion(), indices);
                        Value outside = yielded.pop_back_val();
                        Window window = whole;
                        for (auto [place, size] : llvm::zip_equal(yielded, whole.sizes))
                          window.add(b, loc, place, isBelow(b, loc, place, size));
                        return window.read(b, loc, outside);
                      });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A scatter of single elements, whose places are a tensor. Those that are not stored have one outside of the result.
template <typename Op> struct LowerStore : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    auto from = cast<RankedTensorType>(op.getInput().getType()), to = cast<RankedTensorType>(op.getOutput().getType());
    const int64_t depth = to.getRank();
    if (from.getRank() == 0 || depth == 0)
      return failure();
    SmallVector<int64_t> shape(from.getShape());
    shape.push_back(depth);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, op.getInput());
    sizes.push_back(rewriter.getIndexAttr(depth));
    Value places = buildElements(rewriter, loc, RankedTensorType::get(shape, rewriter.getI64Type()), sizes,
                                 [&](OpBuilder &b, Location where, ValueRange indices) {
                                   SmallVector<Value> yielded = copyBody(b, op.getRegion(), indices.drop_back());
                                   Value isStored = yielded.pop_back_val(), place = yielded.front();
                                   for (int64_t coordinate = 1; coordinate < depth; ++coordinate) {
                                     Value number = arith::ConstantIndexOp::create(b, where, coordinate);
                                     Value isIt = arith::CmpIOp::create(b, where, arith::CmpIPredicate::eq,
                                                                        indices.back(), number);
                                     place = arith::SelectOp::create(b, where, isIt, yielded[coordinate], place);
                                   }
                                   Value nowhere = arith::ConstantIndexOp::create(b, where, -1);
                                   place = arith::SelectOp::create(b, where, isStored, place, nowhere);
                                   return arith::IndexCastOp::create(b, where, b.getI64Type(), place).getResult();
                                 });
    auto scatter = linalg_ext::ScatterOp::create(
        rewriter, loc, TypeRange{to}, ValueRange{op.getInput(), places}, ValueRange{op.getOutput()},
        rewriter.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(depth))), rewriter.getBoolAttr(true));
    OpBuilder::InsertionGuard guard(rewriter);
    Type element = to.getElementType();
    Block *body = rewriter.createBlock(&scatter.getRegion(), {}, {element, element}, {loc, loc});
    linalg_ext::YieldOp::create(rewriter, loc, ValueRange{body->getArgument(0)});
    rewriter.replaceOp(op, scatter.getResults());
    return success();
  }
};

} // namespace

void addMapPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerLoad<linalg_ext::MapLoadOp>, LowerLoad<linalg_ext::MapGatherOp>, LowerStore<linalg_ext::MapStoreOp>,
               LowerStore<linalg_ext::MapScatterOp>>(patterns.getContext());
}

} // namespace tenon::compiler::input
