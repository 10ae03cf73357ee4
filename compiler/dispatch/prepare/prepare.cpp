// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/prepare.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/prepare/equal_values.h"
#include "compiler/dispatch/prepare/fusing.h"
#include "compiler/dispatch/prepare/loops/joined_places.h"
#include "compiler/dispatch/prepare/loops/lesser_results.h"
#include "compiler/dispatch/prepare/loops/loop_reads.h"
#include "compiler/dispatch/prepare/loops/repeated_loops.h"
#include "compiler/dispatch/prepare/loops/repeated_sums.h"
#include "compiler/dispatch/prepare/loops/returned_reshapes.h"
#include "compiler/dispatch/prepare/loops/unit_dimensions.h"
#include "compiler/dispatch/prepare/loops/unit_sums.h"
#include "compiler/dispatch/prepare/loops/unused_results.h"
#include "compiler/dispatch/prepare/narrow_divisions.h"
#include "compiler/dispatch/prepare/reads/device_scalars.h"
#include "compiler/dispatch/prepare/reads/guarded_reads.h"
#include "compiler/dispatch/prepare/reads/inline_reads.h"
#include "compiler/dispatch/prepare/reads/window_checks.h"
#include "compiler/dispatch/prepare/split_operands.h"
#include "compiler/dispatch/prepare/widenings.h"
#include "compiler/dispatch/products/gates.h"
#include "compiler/dispatch/products/grouped_factors.h"
#include "compiler/dispatch/products/images/grouped_results.h"
#include "compiler/dispatch/products/row_order.h"
#include "compiler/dispatch/products/turned_copy.h"
#include "compiler/input/tensors/generalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Each reader of a view has its own, and computes it: a view that stays the result of a reader could not be that of a
/// reduction. What is viewed must be there anyway.
void splitViews(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    if (!op.hasPureTensorSemantics() || !isView(op) || op->use_empty() || op->hasOneUse())
      return;
    auto viewed = op.getDpsInputs()[0].getDefiningOp<linalg::GenericOp>();
    if (viewed && viewed->hasOneUse() && !isView(viewed))
      return;
    OpBuilder b(op);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      if (isa<linalg::GenericOp>(use.getOwner()))
        use.set(b.clone(*op)->getResult(0));
  });
}

/// Each product that reads a turned copy as it lies has its own, so that nobody stores it: a step of a recurrent
/// network reads the same weights as all others.
bool splitTurnedCopies(func::FuncOp function) {
  bool isSplit = false;
  function.walk([&](linalg::GenericOp op) {
    if (!op.hasPureTensorSemantics() || op->getNumResults() != 1)
      return;
    OpBuilder b(op);
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
      if (!op->hasOneUse() && use.getOwner()->getBlock() == op->getBlock() && readsEitherWay(use)) {
        use.set(b.clone(*op)->getResult(0));
        isSplit = true;
      }
  });
  return isSplit;
}

/// What only passes its operands on is them. MLIR's own pattern for that, GenericOp's canonicalisation in LLVM 22,
/// inserts casts before it knows whether it applies, again and again.
struct PassOn : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !llvm::all_equal(op.getIndexingMapsArray()) ||
        !llvm::hasSingleElement(*op.getBody()))
      return failure();
    SmallVector<Value> values;
    for (auto [yielded, type] : llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), op.getResultTypes())) {
      auto argument = dyn_cast<BlockArgument>(yielded);
      if (!argument || argument.getOwner() != op.getBody())
        return failure();
      Value operand = op->getOperand(argument.getArgNumber());
      if (operand.getType() != type && !tensor::CastOp::areCastCompatible(operand.getType(), type))
        return failure();
      values.push_back(operand);
    }
    for (auto [value, type] : llvm::zip_equal(values, op.getResultTypes()))
      if (value.getType() != type)
        value = tensor::CastOp::create(rewriter, op.getLoc(), type, value);
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// What computes no element at all is what it starts from: a reduction over nothing, even where the body does not look
/// at that, and a tensor without elements, which would be a kernel that is never launched and that nothing can be
/// proved about. MLIR's patterns forget the start of such a body, so it looks at it here before they see it.
struct KeepStart : OpRewritePattern<linalg::GenericOp> {
  explicit KeepStart(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/10) {}
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (llvm::is_contained(sizes, 0)) {
      SmallVector<Value> starts(op.getDpsInits());
      for (Value &start : starts) {
        auto type = cast<RankedTensorType>(start.getType());
        if (type.hasStaticShape() && type.getNumElements() == 0)
          start = tensor::EmptyOp::create(rewriter, op.getLoc(), type, ValueRange());
      }
      rewriter.replaceOp(op, starts);
      return success();
    }
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    bool changed = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (!op.getMatchingBlockArgument(&init).use_empty() || init.get().getDefiningOp<tensor::EmptyOp>())
        continue;
      for (unsigned loop : reduced)
        if (ShapedType::isDynamic(sizes[loop]) && succeeded(keep(op, init, loop, rewriter))) {
          changed = true;
          break;
        }
    }
    return success(changed);
  }

private:
  /// What is yielded where there is an element, which is always so in the body, else the start.
  static LogicalResult keep(linalg::GenericOp op, OpOperand &init, unsigned loop, PatternRewriter &rewriter) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      const std::optional<unsigned> dimension =
          op.getMatchingIndexingMap(input).getResultPosition(getAffineDimExpr(loop, op.getContext()));
      if (!dimension)
        continue;
      Value size = dimensionOf(rewriter, op.getLoc(), input->get(), *dimension);
      Operation *yield = op.getBody()->getTerminator();
      const unsigned number = init.getOperandNumber() - op.getNumDpsInputs();
      rewriter.setInsertionPoint(yield);
      Value index = linalg::IndexOp::create(rewriter, op.getLoc(), loop);
      Value isElement = arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::ult, index, size);
      Value kept = arith::SelectOp::create(rewriter, op.getLoc(), isElement, yield->getOperand(number),
                                           op.getMatchingBlockArgument(&init));
      rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(number, kept); });
      return success();
    }
    return failure();
  }
};

/// A loop that every result names is parallel, whatever the operation calls it: its steps have elements of their own.
void nameParallelLoops(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
    SmallVector<Attribute> named;
    for (auto [loop, type] : llvm::enumerate(types)) {
      const AffineExpr expr = getAffineDimExpr(unsigned(loop), op.getContext());
      if (type == utils::IteratorType::reduction && llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
            return op.getMatchingIndexingMap(&init).getResultPosition(expr).has_value();
          }))
        type = utils::IteratorType::parallel;
      named.push_back(linalg::IteratorTypeAttr::get(op.getContext(), type));
    }
    op.setIteratorTypesAttr(ArrayAttr::get(op.getContext(), named));
  });
}

/// A reduction over no element at all is what it starts from.
bool mayRunOverNothing(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0 &&
         llvm::any_of(op.getStaticLoopRanges(), [](int64_t size) { return ShapedType::isDynamic(size) || size == 0; });
}

/// What is written over without being read is no operand: it would tie the operation to a tensor it does not need.
void dropUnreadStarts(func::FuncOp function) {
  function.walk([&](linalg::GenericOp op) {
    if (!op.hasPureTensorSemantics() || mayRunOverNothing(op))
      return;
    OpBuilder builder(op);
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (!op.getMatchingBlockArgument(&init).use_empty() || init.get().getDefiningOp<tensor::EmptyOp>())
        continue;
      auto type = cast<RankedTensorType>(init.get().getType());
      SmallVector<Value> sizes = unknownSizesOf(builder, op.getLoc(), init.get());
      init.set(tensor::EmptyOp::create(builder, op.getLoc(), type, sizes));
    }
  });
}

/// What an operation without a reduction reads of its outs is an input like any other.
void readStartsAsInputs(func::FuncOp function) {
  function.walk([&](linalg::GenericOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0)
      return;
    OpBuilder builder(op);
    for (unsigned init = 0; init < op.getNumDpsInits(); ++init) {
      OpOperand *start = op.getDpsInitOperand(init);
      BlockArgument written = op.getMatchingBlockArgument(start);
      if (written.use_empty())
        continue;
      const unsigned inputs = op.getNumDpsInputs();
      SmallVector<Attribute> maps = llvm::to_vector(op.getIndexingMaps());
      maps.insert(maps.begin() + inputs, AffineMapAttr::get(op.getMatchingIndexingMap(start)));
      BlockArgument read = op.getBody()->insertArgument(inputs, written.getType(), written.getLoc());
      written.replaceAllUsesWith(read);
      op.getInputsMutable().append(start->get());
      op.setIndexingMapsAttr(builder.getArrayAttr(maps));
    }
  });
}

/// A reshape of nothing is a tensor of its sizes. MLIR takes reshapes there and back for nothing where types agree, but
/// a size of 0 leaves the others free: 0x3 as 0x16x3 as 0x48.
void replaceReshapesOfNothing(func::FuncOp function) {
  auto isOpen = [](RankedTensorType type) { return !type.hasStaticShape() && llvm::is_contained(type.getShape(), 0); };
  auto replace = [](OpBuilder &b, Operation *op, ValueRange sizes) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    op->replaceAllUsesWith(tensor::EmptyOp::create(b, op->getLoc(), type, sizes));
    op->erase();
  };
  for (auto op : llvm::to_vector(function.getOps<tensor::CollapseShapeOp>())) {
    if (!isOpen(op.getResultType()))
      continue;
    OpBuilder b(op);
    SmallVector<Value> sizes;
    for (auto [dimension, folded] : llvm::enumerate(op.getReassociationIndices())) {
      if (!op.getResultType().isDynamicDim(dimension))
        continue;
      sizes.push_back(foldedDimensionOf(b, op.getLoc(), op.getSrc(), folded));
    }
    replace(b, op, sizes);
  }
  for (auto op : llvm::to_vector(function.getOps<tensor::ExpandShapeOp>()))
    if (isOpen(op.getResultType())) {
      OpBuilder b(op);
      replace(b, op, op.getOutputShape());
    }
}

/// Whatever patterns leave is a right program: one that could go on for ever stops, and is not refused.
void rewrite(func::FuncOp function, RewritePatternSet &&patterns) {
  GreedyRewriteConfig config;
  config.enableFolding();
  (void)applyPatternsGreedily(function, std::move(patterns), config);
}

} // namespace

void generalizeFills(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto fill : llvm::to_vector(function.getOps<linalg::FillOp>())) {
    auto startsAnother = [](OpOperand &use) {
      Operation *op = use.getOwner();
      if (linalg_ext::isAlongOp(op))
        return use.getOperandNumber() + op->getNumResults() >= op->getNumOperands() ||
               (isa<linalg_ext::ScatterOp>(op) && use.getOperandNumber() == 0);
      auto generic = dyn_cast<linalg::GenericOp>(op);
      return generic && generic.isDpsInit(&use);
    };
    if (fill->getNumResults() != 1 || llvm::all_of(fill->getUses(), startsAnother))
      continue;
    rewriter.setInsertionPoint(fill);
    auto copy = cast<linalg::FillOp>(rewriter.clone(*fill));
    rewriter.replaceUsesWithIf(fill->getResult(0), copy->getResult(0),
                               [&](OpOperand &use) { return !startsAnother(use); });
    rewriter.setInsertionPoint(copy);
    (void)linalg::generalizeNamedOp(rewriter, copy);
  }
}

void eraseDeadOperations(func::FuncOp function) {
  for (Block &block : llvm::reverse(function.getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
}

void generalizeOperations(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  replaceReshapesOfNothing(function);
  RewritePatternSet toLinalg(context);
  linalg::populateElementwiseToLinalgConversionPatterns(toLinalg);
  input::addSplatPatterns(toLinalg);
  input::addNamedPatterns(toLinalg, /*keepsFill=*/true);
  addRangesOfLoops(toLinalg);
  rewrite(function, std::move(toLinalg));
  nameParallelLoops(function);
  foldRepeatedLoops(function);
  dropUnusedResults(function);
  splitLesserResults(function);
  readStartsAsInputs(function); // so that dimensions of one go through them
  dropUnitSums(function);
  dropUnitReductions(function);
  dropUnitDimensionsOfResults(function);
  moveUnitDimensions(function);
  readStartsAsInputs(function); // of sums that are none any more
  dropUnreadStarts(function);
  resolveDimensions(function);
  shareEqualValues(function);
}

LogicalResult prepareFunction(func::FuncOp function, bool isOneKernel) {
  MLIRContext *context = function.getContext();
  if (failed(checkWindows(function)))
    return failure();
  generalizeOperations(function);
  keepScalarsOnDevice(function);
  auto fuse = [&] {
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    patterns.add<PassOn, KeepStart>(context);
    addLoopReads(patterns);
    addNarrowDivisions(patterns);
    rewrite(function, std::move(patterns));
    resolveDimensions(function);
    shareEqualValues(function);
  };
  expandGroupedFactors(function);
  splitViews(function);
  widenBehindReshapes(function);
  splitWidenings(function);
  fuse();
  if (splitTurnedCopies(function)) // of two operations until they are fused
    fuse();
  if (!isOneKernel && reduceOnce(function)) // constants are numbers of the bodies now
    fuse();
  if (expandGroupedResults(function))
    fuse();
  if (computeUnreshaped(function))
    fuse();
  if (inlineReads(function))
    fuse();
  if (guardReads(function))
    fuse();
  storeFactors(function);
  orderRows(function);
  if (!isOneKernel)
    divideIntoGates(function);
  joinPlaces(function);
  joinSumsOfAll(function);
  shareEqualValues(function);
  splitOperands(function);
  return success();
}

} // namespace tenon::compiler::dispatch
