// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/unit_dimensions.h"

#include "compiler/dispatch/prepare/loops/changed_loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

SmallVector<linalg::GenericOp> operationsOf(func::FuncOp function) {
  SmallVector<linalg::GenericOp> operations;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics())
      operations.push_back(op);
  });
  return operations;
}

/// Loops of one that only the results of a sum name: the average of an image is one number of each channel, whatever
/// dimensions it keeps.
llvm::SmallBitVector unreadLoops(linalg::GenericOp op) {
  llvm::SmallBitVector unread(op.getNumLoops());
  if (op.getNumReductionLoops() == 0)
    return unread;
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel && sizes[loop] == 1 &&
        llvm::none_of(ArrayRef(maps).take_front(op.getNumDpsInputs()),
                      [&](AffineMap map) { return map.isFunctionOfDim(loop); }))
      unread.set(loop);
  // Every result has to say that it has one there.
  for (OpOperand &start : op.getDpsInitsMutable())
    for (auto [size, expr] : llvm::zip_equal(cast<RankedTensorType>(start.get().getType()).getShape(),
                                             op.getMatchingIndexingMap(&start).getResults()))
      for (unsigned loop : unread.set_bits())
        if (expr.isFunctionOfDim(loop) && (size != 1 || !isa<AffineDimExpr>(expr)))
          unread.reset(loop);
  const bool isNamed = llvm::all_of(unread.set_bits(), [&](unsigned loop) {
    return llvm::any_of(ArrayRef(maps).drop_front(op.getNumDpsInputs()),
                        [&](AffineMap map) { return map.isFunctionOfDim(loop); });
  });
  if (unread.all() || !isNamed)
    unread.reset();
  return unread;
}

/// Loops of one over the places of an image that has one place, behind its channels: of a product of all images with
/// filters that know no places, as a gate of channels is computed. What is summed over is what lies side by side there.
llvm::SmallBitVector loopsOfOnePlace(linalg::GenericOp op) {
  llvm::SmallBitVector places(op.getNumLoops());
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 || op->getNumResults() != 1)
    return places;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  for (unsigned number : {0u, 1u}) {
    const AffineMap image = op.getMatchingIndexingMap(op.getDpsInputOperand(number)),
                    filters = op.getMatchingIndexingMap(op.getDpsInputOperand(1 - number));
    llvm::SmallBitVector behind(op.getNumLoops());
    bool areAlone = true, hasChannels = false, hasImages = false;
    for (AffineExpr expr : llvm::reverse(image.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop) {
        areAlone &= hasChannels; // anything in front of the channels
        continue;
      }
      const unsigned position = loop.getPosition();
      if (types[position] == utils::IteratorType::reduction) {
        hasChannels = true;
      } else if (!hasChannels) {
        areAlone &= sizes[position] == 1 && !filters.isFunctionOfDim(position);
        behind.set(position);
      } else {
        hasImages |= !filters.isFunctionOfDim(position);
      }
    }
    if (areAlone && hasChannels && hasImages)
      places |= behind;
  }
  // Every tensor has to say that it has one there.
  for (OpOperand &operand : op->getOpOperands())
    for (auto [size, expr] : llvm::zip_equal(cast<RankedTensorType>(operand.get().getType()).getShape(),
                                             op.getMatchingIndexingMap(&operand).getResults()))
      for (unsigned loop : places.set_bits())
        if (expr.isFunctionOfDim(loop) && (size != 1 || !isa<AffineDimExpr>(expr)))
          places.reset(loop);
  return places;
}

void dropOfResults(linalg::GenericOp op) {
  ChangedLoops loops(op);
  if (const llvm::SmallBitVector dropped = unreadLoops(op) |= loopsOfOnePlace(op); dropped.any())
    dropLoops(op, loops, dropped);
  for (unsigned number = 0; number < op.getNumDpsInits(); ++number)
    if (withoutUnits(op.getDpsInits()[number], loops.maps[op.getNumDpsInputs() + number])) {
      rebuild(op, std::move(loops));
      return;
    }
}

/// The dimensions of one that a reshape adds, or takes away, whatever else it does: those of each group but for one.
/// Which of several of one is the one that stays does not matter to an element's place.
llvm::SmallBitVector unitsOf(ArrayRef<ReassociationIndices> groups, RankedTensorType longer) {
  llvm::SmallBitVector units(longer.getRank());
  for (const ReassociationIndices &group : groups) {
    int64_t stays = group.back();
    for (int64_t dimension : group)
      if (longer.getDimSize(dimension) != 1)
        stays = dimension;
    for (int64_t dimension : group)
      if (dimension != stays && longer.getDimSize(dimension) == 1)
        units.set(dimension);
  }
  if (groups.empty())
    units.set();
  return units;
}

/// Whether a reshape adds, or takes away, nothing else.
bool isOfUnitsAlone(ArrayRef<ReassociationIndices> groups, RankedTensorType longer) {
  return llvm::all_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dimension) { return longer.getDimSize(dimension) != 1; }) <= 1;
  });
}

std::optional<llvm::SmallBitVector> addedUnits(Value tensor) {
  auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  return expand ? std::optional(unitsOf(expand.getReassociationIndices(), expand.getResultType())) : std::nullopt;
}

/// The dimensions of one that everybody who reads the tensor takes away by a reshape that does nothing else: one that
/// does would come to stand between what is computed and what it is computed from.
llvm::SmallBitVector unreadUnits(Value tensor) {
  llvm::SmallBitVector units(cast<RankedTensorType>(tensor.getType()).getRank(), !tensor.use_empty());
  for (Operation *user : tensor.getUsers()) {
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
    if (!collapse || !isOfUnitsAlone(collapse.getReassociationIndices(), collapse.getSrcType()))
      return llvm::SmallBitVector(units.size());
    units &= unitsOf(collapse.getReassociationIndices(), collapse.getSrcType());
  }
  return units;
}

/// Whether whoever reads the dimension of one reads it at 0, perhaps behind others that compute from this tensor alone.
bool isReadAtZero(Value tensor, int64_t dimension, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 8;
  return depth < kMostDepth && !tensor.use_empty() &&
         llvm::all_of(
             tensor.getUses(),
             [&](OpOperand &use) {
               auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
               if (!reader || !reader.isDpsInput(&use))
                 return false;
               const AffineExpr index = reader.getMatchingIndexingMap(&use).getResult(dimension);
               auto loop = dyn_cast<AffineDimExpr>(index);
               if (!loop)
                 return isa<AffineConstantExpr>(index);
               const bool isAlone = llvm::none_of(reader.getDpsInputOperands(), [&](OpOperand *other) {
                 return other != &use && reader.getMatchingIndexingMap(other).isFunctionOfDim(loop.getPosition());
               });
               if (!isAlone || reader.getNumReductionLoops() != 0 || reader->getNumResults() != 1)
                 return false;
               const std::optional<unsigned> behind =
                   reader.getIndexingMapMatchingResult(reader->getResult(0)).getResultPosition(loop);
               return behind && isReadAtZero(reader.getResult(0), *behind, depth + 1);
             });
}

/// Whether the tensor could as well be there without a dimension: nobody computes it in the kernel of its reader.
bool isFreeToReshape(Value tensor) {
  Operation *producer = tensor.getDefiningOp();
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer))
    return isFreeToReshape(producer->getOperand(0));
  return !producer || isa<tensor::EmptyOp, linalg::FillOp>(producer) || producer->hasTrait<OpTrait::ConstantLike>();
}

/// Whether elementwise operations compute the tensor for one reader alone, and it may lose a dimension of one all the
/// way up: a reshape between some of them would part what is one kernel.
bool mayLoseUnit(Value tensor, int64_t dimension, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 16;
  if (std::optional<llvm::SmallBitVector> units = addedUnits(tensor); units && units->test(dimension))
    return true;
  if (isFreeToReshape(tensor))
    return true;
  auto producer = tensor.getDefiningOp<linalg::GenericOp>();
  if (!producer || depth == kMostDepth || !producer->hasOneUse() || producer.getNumReductionLoops() != 0 ||
      producer->getNumResults() != 1)
    return false;
  auto loop = dyn_cast<AffineDimExpr>(
      producer.getIndexingMapMatchingResult(cast<OpResult>(tensor)).getResult(unsigned(dimension)));
  return loop && llvm::all_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
           const AffineMap map = producer.getMatchingIndexingMap(input);
           const std::optional<unsigned> read = map.getResultPosition(loop);
           return read ? mayLoseUnit(input->get(), *read, depth + 1) : !map.isFunctionOfDim(loop.getPosition());
         });
}

/// The dimensions of one that an operation adds itself, along a loop that nothing it reads has, for readers that read
/// them at 0: a mean that is to keep its dimension.
llvm::SmallBitVector broadcastUnits(linalg::GenericOp op) {
  Value result = op->getResult(0);
  llvm::SmallBitVector units(cast<RankedTensorType>(result.getType()).getRank());
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (auto [dimension, expr] : llvm::enumerate(op.getIndexingMapMatchingResult(cast<OpResult>(result)).getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    const bool isRead = !loop || llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      return op.getMatchingIndexingMap(input).isFunctionOfDim(loop.getPosition());
    });
    if (!isRead && sizes[loop.getPosition()] == 1 && isReadAtZero(result, int64_t(dimension)))
      units.set(dimension);
  }
  return units;
}

/// Of loops of one, those that stay are as good to read along as those that go.
AffineMap withOtherUnits(AffineMap map, ArrayRef<int64_t> sizes, const llvm::SmallBitVector &dropped) {
  SmallVector<AffineExpr> indices(map.getResults());
  for (AffineExpr &index : indices) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    if (!loop || !dropped.test(loop.getPosition()))
      continue;
    for (unsigned other = 0; other < sizes.size(); ++other) {
      const AffineExpr expr = getAffineDimExpr(other, map.getContext());
      if (sizes[other] == 1 && !dropped.test(other) && !llvm::is_contained(indices, expr)) {
        index = expr;
        break;
      }
    }
  }
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), indices, map.getContext());
}

enum class Reshape { InFront, Behind };

/// Drops the loops of one of an elementwise operation along which what it reads got its dimension by a reshape in front
/// of it: that goes behind the operation, to meet the one that takes it away. So does one that is behind the operation
/// go in front of it. A dimension that it adds itself comes by a reshape, too.
bool dropUnitLoops(linalg::GenericOp op, Reshape reshape) {
  if (op.getNumReductionLoops() != 0)
    return false;
  ChangedLoops loops(op);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  llvm::SmallBitVector dropped(op.getNumLoops());
  auto loopOf = [&](unsigned operand, int64_t dimension) -> std::optional<unsigned> {
    auto loop = dyn_cast<AffineDimExpr>(loops.maps[operand].getResult(dimension));
    return loop ? std::optional<unsigned>(loop.getPosition()) : std::nullopt;
  };
  auto drop = [&](unsigned operand, const llvm::SmallBitVector &units) {
    for (unsigned dimension : units.set_bits())
      if (std::optional<unsigned> loop = loopOf(operand, dimension); loop && sizes[*loop] == 1)
        dropped.set(*loop);
  };
  if (reshape == Reshape::InFront) {
    for (auto [number, input] : llvm::enumerate(loops.inputs))
      if (std::optional<llvm::SmallBitVector> units = addedUnits(input))
        drop(number, *units);
    if (op->getNumResults() == 1)
      drop(op.getNumDpsInputs(), broadcastUnits(op));
  } else if (op->getNumResults() == 1) {
    drop(op.getNumDpsInputs(), unreadUnits(op->getResult(0)));
    for (AffineMap &map : MutableArrayRef(loops.maps).take_front(loops.inputs.size()))
      map = withOtherUnits(map, sizes, dropped);
  }
  // Whatever else is read along such a loop must lose it, too.
  for (auto [number, input] : llvm::enumerate(loops.inputs)) {
    const std::optional<llvm::SmallBitVector> units = addedUnits(input);
    for (auto [dimension, expr] : llvm::enumerate(loops.maps[number].getResults())) {
      if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
        if (!(units && units->test(dimension)) && !isFreeToReshape(input) &&
            !(reshape == Reshape::Behind && mayLoseUnit(input, int64_t(dimension))))
          dropped.reset(loop.getPosition());
        continue;
      }
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (expr.isFunctionOfDim(loop))
          dropped.reset(loop);
    }
  }
  // Every tensor has to say that it has one there: what does not is checked when the program runs.
  for (OpOperand &operand : op->getOpOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
      for (auto [dimension, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && type.getDimSize(dimension) != 1)
          dropped.reset(loop.getPosition());
  if (dropped.none())
    return false;
  dropLoops(op, loops, dropped);
  rebuild(op, std::move(loops));
  return true;
}

/// A vector of fewer elements than `whole`.
bool isVectorFor(Value tensor, Value whole) {
  auto type = cast<RankedTensorType>(tensor.getType()), other = cast<RankedTensorType>(whole.getType());
  return llvm::count_if(type.getShape(), [](int64_t size) { return size != 1; }) <= 1 && type.hasStaticShape() &&
         other.hasStaticShape() && type.getNumElements() < other.getNumElements();
}

/// What reads an added dimension at 0, or a vector along a loop of one that the results have anyway, reads the tensor
/// as it was.
void readWithoutUnits(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  OpBuilder b(op);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    const std::optional<llvm::SmallBitVector> units = addedUnits(operand->get());
    if (!units)
      continue;
    AffineMap &map = maps[operand->getOperandNumber()];
    SmallVector<AffineExpr> indices(map.getResults());
    for (unsigned dimension : units->set_bits())
      if (auto loop = dyn_cast<AffineDimExpr>(indices[dimension]);
          loop && sizes[loop.getPosition()] == 1 && isVectorFor(operand->get(), op->getResult(0)) &&
          op.getNumReductionLoops() == 0 && op.getIndexingMapMatchingResult(op->getResult(0)).isPermutation())
        indices[dimension] = b.getAffineConstantExpr(0);
    map = AffineMap::get(map.getNumDims(), 0, indices, op.getContext());
    if (std::optional<DroppedUnits> dropped = withoutUnits(operand->get(), maps[operand->getOperandNumber()])) {
      operand->set(tensor::CollapseShapeOp::create(b, op.getLoc(), operand->get(), dropped->groups));
      maps[operand->getOperandNumber()] = dropped->map;
    }
  }
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

/// Dimensions of one that come and go, of a tensor whose sizes the program knows alone: MLIR takes those for nothing
/// where each comes and goes at the same place.
struct UnitsComeAndGo : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto expand = op.getSrc().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || expand.getSrcType() != op.getResultType() ||
        !isOfUnitsAlone(expand.getReassociationIndices(), expand.getResultType()) ||
        !isOfUnitsAlone(op.getReassociationIndices(), op.getSrcType()))
      return failure();
    rewriter.replaceOp(op, expand.getSrc());
    return success();
  }
};

/// Reshapes that meet.
void foldReshapes(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<UnitsComeAndGo>(function.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, function.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, function.getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, function.getContext());
  (void)applyPatternsGreedily(function, std::move(patterns));
}

} // namespace

void dropUnitDimensionsOfInputs(func::FuncOp function) {
  for (linalg::GenericOp op : operationsOf(function)) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    OpBuilder b(op);
    for (OpOperand *operand : op.getDpsInputOperands())
      if (std::optional<DroppedUnits> dropped = withoutUnits(operand->get(), maps[operand->getOperandNumber()])) {
        operand->set(tensor::CollapseShapeOp::create(b, op.getLoc(), operand->get(), dropped->groups));
        maps[operand->getOperandNumber()] = dropped->map;
      }
    op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
}

void dropUnitDimensionsOfResults(func::FuncOp function) {
  for (linalg::GenericOp op : operationsOf(function))
    dropOfResults(op);
}

void moveUnitDimensions(func::FuncOp function) {
  bool any = false;
  for (linalg::GenericOp op : operationsOf(function)) {
    any |= llvm::any_of(op.getDpsInputs(), [](Value input) { return addedUnits(input).has_value(); });
    readWithoutUnits(op);
    any |= dropUnitLoops(op, Reshape::InFront);
  }
  const SmallVector<linalg::GenericOp> operations = operationsOf(function);
  for (linalg::GenericOp op : llvm::reverse(operations))
    any |= dropUnitLoops(op, Reshape::Behind);
  if (any)
    foldReshapes(function);
}

} // namespace tenon::compiler::dispatch
