// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/prepare.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/contraction.h"
#include "compiler/dispatch/analysis/convolutions/convolution.h"
#include "compiler/dispatch/analysis/convolutions/grouped.h"
#include "compiler/dispatch/analysis/convolutions/grouped_filters.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/tile_factors.h"
#include "compiler/dispatch/prepare/inline_reads.h"
#include "compiler/dispatch/prepare/split_operands.h"
#include "compiler/dispatch/prepare/unit_dimensions.h"
#include "compiler/dispatch/prepare/unit_sums.h"
#include "compiler/dispatch/products/grouped_factors.h"
#include "compiler/dispatch/products/matrix_product.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

struct SplatToFill : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op, PatternRewriter &rewriter) const override {
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), op.getType(), op.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
    return success();
  }
};

/// Every named operation but linalg.fill, which reads best as the start of a reduction.
struct Generalize : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp>(op) || !op.hasPureTensorSemantics())
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// Cheap enough to be computed again for every element that reads it.
bool isCheap(linalg::GenericOp producer) {
  size_t work = 0;
  for (Operation &op : producer.getBody()->without_terminator()) {
    if (isa<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp, arith::RemFOp>(op))
      return false;
    ++work;
  }
  return work <= 4;
}

/// Reads elements of another tensor, or says what it holds, without a transpose: part of whatever reads it, however
/// often. Slices, broadcasts and dimensions of one are such.
bool isView(linalg::GenericOp producer) {
  if (producer->getNumResults() != 1 || producer.getNumDpsInputs() != 1 ||
      !llvm::hasSingleElement(*producer.getBody()) ||
      producer.getBody()->getTerminator()->getOperand(0) != producer.getBody()->getArgument(0))
    return false;
  int64_t last = -1;
  for (AffineExpr result : producer.getIndexingMapsArray().front().getResults()) {
    for (unsigned loop = 0; loop < producer.getNumLoops(); ++loop) {
      if (!result.isFunctionOfDim(loop))
        continue;
      if (int64_t(loop) <= last)
        return false;
      last = loop;
    }
  }
  return true;
}

/// One element of another tensor, or a number where there is none: the border around an image.
bool isBorder(linalg::GenericOp producer) {
  constexpr unsigned kMostWork = 48; // of the place, and of the question whether it is inside
  unsigned reads = 0, work = 0;
  for (Operation &op : producer.getBody()->without_terminator()) {
    reads += isa<tensor::ExtractOp>(op);
    if (op.getNumRegions() != 0 || isa<math::MathDialect>(op.getDialect()) || ++work > kMostWork)
      return false;
  }
  return reads == 1 && producer->getNumResults() == 1 && producer.getNumDpsInputs() == 0 &&
         producer.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
}

constexpr int64_t kVectorBytes = 16;

/// The border around the image of a convolution that tensor cores compute, or of one in groups: they copy the image as
/// it lies, and zeros for what is outside. Elements one by one would each ask whether they are inside.
bool isBorderOfProduct(linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  const std::optional<Contraction> product = contractionOf(consumer);
  if (!product || consumer.isDpsInit(operand))
    return false;
  BlockArgument read = consumer.getMatchingBlockArgument(operand);
  if (llvm::none_of(ArrayRef<const ContractionSide *>{&product->left, &product->right},
                    [&](const ContractionSide *side) { return beforeExtension(side->value) == read; }))
    return false;
  const AffineMap map = consumer.getMatchingIndexingMap(operand);
  auto channel = dyn_cast_or_null<AffineDimExpr>(map.getNumResults() == 0 ? AffineExpr() : map.getResults().back());
  const std::optional<Border> border = borderOf(producer.getBody()->getTerminator()->getOperand(0), producer);
  if (!border || map.isProjectedPermutation())
    return false;
  // Many groups at once: patches of the image are brought to shared memory, whatever they lie like.
  if (GroupedWindows::of(*product) || GroupedFilters::of(*product))
    return true;
  if (!channel || !mayRoundForTensorCores(*product))
    return false;
  auto image = cast<RankedTensorType>(border->image.getType());
  // Of a gradient by filters the channels are not summed over.
  if (!llvm::is_contained(product->reduced, channel.getPosition()) &&
      !(image.getElementTypeBitWidth() == 16 && sumsOverPlaces(consumer, map)))
    return false;
  return image.getShape().back() * elementBytes(image.getElementType()) % kVectorBytes == 0;
}

// A sum of hundreds of tensors is several kernels: each tensor is a parameter, of which a kernel has 4 KiB, and a
// pointer in a register.
constexpr unsigned kMostOperands = 32;

unsigned operandsOfBoth(linalg::GenericOp producer, linalg::GenericOp consumer) {
  llvm::SmallPtrSet<void *, 32> values;
  for (linalg::GenericOp op : {producer, consumer}) {
    for (Value operand : op->getOperands())
      values.insert(operand.getAsOpaquePointer());
    op.getRegion().walk([&](tensor::ExtractOp read) { values.insert(read.getTensor().getAsOpaquePointer()); });
  }
  return values.size();
}

/// Whether both as one still say how long every loop is: that of a reduction over what is gathered stands in no result,
/// and what MLIR keeps to say it has not all the loops of a result.
bool saysLoopSizes(linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  llvm::SmallDenseSet<unsigned> known;
  auto add = [&](AffineMap map, llvm::function_ref<AffineExpr(unsigned)> loopOf) {
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (auto loop = dyn_cast_or_null<AffineDimExpr>(loopOf(dim.getPosition())))
          known.insert(loop.getPosition());
  };
  auto same = [&](unsigned loop) { return getAffineDimExpr(loop, producer.getContext()); };
  for (OpOperand &other : consumer->getOpOperands())
    if (&other != operand && isa<RankedTensorType>(other.get().getType()))
      add(consumer.getMatchingIndexingMap(&other), same);
  AffineMap read = consumer.getMatchingIndexingMap(operand);
  AffineMap written = producer.getIndexingMapMatchingResult(cast<OpResult>(operand->get()));
  auto throughResult = [&](unsigned loop) -> AffineExpr {
    std::optional<unsigned> position = written.getResultPosition(same(loop));
    return position ? read.getResult(*position) : AffineExpr();
  };
  for (OpOperand *input : producer.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()))
      add(producer.getMatchingIndexingMap(input), throughResult);
  if (known.size() != consumer.getNumLoops())
    return false;
  // MLIR itself compares the loops of both by number, and keeps the producer's result where it then misses one. A
  // result that runs over reduced loops is none that a kernel can have.
  known.clear();
  for (linalg::GenericOp op : {producer, consumer})
    for (OpOperand &other : op->getOpOperands())
      if (&other != operand && !(op == producer && op.isDpsInit(&other)) &&
          isa<RankedTensorType>(other.get().getType()))
        add(op.getMatchingIndexingMap(&other), same);
  return consumer.getNumReductionLoops() == 0 ||
         llvm::all_of(llvm::seq(consumer.getNumLoops()), [&](unsigned loop) { return known.contains(loop); });
}

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

/// Whether a thread has what it reads here for all rounds of the loops that do not index it.
bool readsOnceButUnrolled(linalg::GenericOp consumer, OpOperand *operand) {
  AffineMap read = consumer.getMatchingIndexingMap(operand);
  return read.isProjectedPermutation() && read.getNumResults() + 1 == consumer.getNumLoops() &&
         unrolledLoopOf(consumer).has_value();
}

/// Whether a product of an attention stays one when the producer of a factor is computed in it. What looks up where its
/// element lies, as in pages of keys, is an operation of its own in the kernel.
bool staysProduct(linalg::GenericOp producer) {
  return llvm::none_of(producer.getBody()->without_terminator(), [](Operation &op) {
    return isa<linalg::IndexOp>(op) || op.getNumRegions() != 0 ||
           llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<ShapedType>(type); });
  });
}

/// Whether tensor cores multiply `operand` by many rows: each tile of these would compute it again, one element after
/// the other, where a copy of it comes by itself (measured on an H100: int8 weights of 128 rows take 255 us so, 114 us
/// with a kernel that stores them).
bool isFactorOfManyRows(linalg::GenericOp consumer, OpOperand *operand) {
  if (consumer.isDpsInit(operand) || isOfAttention(consumer) || readsWindows(consumer))
    return false;
  const std::optional<Contraction> product = contractionOf(consumer);
  if (product && mayTilesCompute(*product)) {
    const bool isLeft = llvm::is_contained(product->left.inputs, operand->getOperandNumber());
    const ContractionSide &other = isLeft ? product->right : product->left;
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    // One side is computed, the other one is copied.
    if (isOfFewBits(*product, other))
      return !fewRowsOf(*product);
    if (producer && isWeightOfFewBits(producer))
      return false;
  }
  return product && isForTensorCores(*product) && knownSizeOf(consumer, product->rows) &&
         knownSizeOf(consumer, product->columns) && knownSizeOf(consumer, product->reduced) && !fewRowsOf(*product);
}

/// Fuse views, and what has one reader, unless the reader would compute it several times over.
bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || operandsOfBoth(producer, consumer) > kMostOperands ||
      !saysLoopSizes(producer, operand) || readsTurnedCopy(*operand) ||
      (consumer->hasOneUse() && readsTurnedCopy(*consumer->use_begin())))
    return false;
  if (isOfAttention(consumer) && !consumer.isDpsInit(operand) &&
      (producer->hasAttr(kStoredAttr) || !staysProduct(producer)))
    return false;
  // What others read too is a result of both then, so it must have all the loops of the reader.
  if (isView(producer))
    return producer->hasOneUse() ||
           (consumer.getNumReductionLoops() == 0 && consumer.getMatchingIndexingMap(operand).isPermutation());
  // A loop would compute what is before it in every round.
  if (!producer->hasOneUse() || producer->getBlock() != consumer->getBlock())
    return false;
  if (isBorderOfProduct(producer, operand))
    return true;
  if (isWindow(consumer) && !consumer.isDpsInit(operand))
    return isCheap(producer) || isBorder(producer);
  if (isFactorOfManyRows(consumer, operand))
    return false;
  return consumer.getMatchingIndexingMap(operand).isPermutation() || isCheap(producer) ||
         readsOnceButUnrolled(consumer, operand);
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

/// A reduction over no element at all is what it starts from, even where the body does not look at that. MLIR's
/// patterns forget the start of such a body, so it looks at it here before they see it.
struct KeepStart : OpRewritePattern<linalg::GenericOp> {
  explicit KeepStart(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/10) {}
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    if (llvm::any_of(reduced, [&](unsigned loop) { return sizes[loop] == 0; })) {
      rewriter.replaceOp(op, SmallVector<Value>(op.getDpsInits()));
      return success();
    }
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
      SmallVector<Value> sizes;
      for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
        if (type.isDynamicDim(dimension))
          sizes.push_back(dimensionOf(builder, op.getLoc(), init.get(), dimension));
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
      Value size = arith::ConstantIndexOp::create(b, op.getLoc(), 1);
      for (int64_t each : folded)
        size = b.createOrFold<arith::MulIOp>(op.getLoc(), size, dimensionOf(b, op.getLoc(), op.getSrc(), each));
      sizes.push_back(size);
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

void shareEqualValues(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

void generalizeOperations(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  replaceReshapesOfNothing(function);
  RewritePatternSet toLinalg(context);
  linalg::populateElementwiseToLinalgConversionPatterns(toLinalg);
  toLinalg.add<SplatToFill, Generalize>(context);
  rewrite(function, std::move(toLinalg));
  dropUnitSums(function);
  dropUnitDimensionsOfResults(function);
  readStartsAsInputs(function);
  dropUnreadStarts(function);
  resolveDimensions(function);
  shareEqualValues(function);
}

LogicalResult prepareFunction(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  generalizeOperations(function);
  auto fuse = [&] {
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    patterns.add<PassOn, KeepStart>(context);
    rewrite(function, std::move(patterns));
    resolveDimensions(function);
    shareEqualValues(function);
  };
  expandGroupedFactors(function);
  splitViews(function);
  fuse();
  if (inlineReads(function))
    fuse();
  splitOperands(function);
  return success();
}

} // namespace tenon::compiler::dispatch
