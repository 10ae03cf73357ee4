// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/fusing.h"

#include "compiler/dispatch/analysis/convolutions/convolution.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/behind_product.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/parts_put_together.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"
#include "compiler/dispatch/analysis/slices.h"
#include "compiler/dispatch/prepare/image_borders.h"
#include "compiler/dispatch/products/grouped_factors.h"
#include "compiler/dispatch/products/matrix_product.h"
#include "compiler/dispatch/products/turned_copy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Cheap enough to be computed again for every element that reads it.
bool isCheap(linalg::GenericOp producer) {
  size_t work = 0;
  for (Operation &op : producer.getBody()->without_terminator()) {
    if (op.getNumRegions() != 0 || isa<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp, arith::RemFOp>(op))
      return false;
    ++work;
  }
  return work <= 4;
}

// A sum of hundreds of tensors is several kernels: each tensor is a parameter, of which a kernel has 4 KiB, and a
// pointer in a register.
constexpr unsigned kMostOperands = 32;

// Each fusion copies both bodies: a chain of thousands of operations would be copied as often. Parts of it that stay
// apart become one kernel all the same, as a group.
constexpr size_t kMostOperations = 512;

bool isLong(linalg::GenericOp producer, linalg::GenericOp consumer) {
  return producer.getBody()->getOperations().size() + consumer.getBody()->getOperations().size() > kMostOperations;
}

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

/// Whether a thread has what it reads here for all rounds of the loops that do not index it.
bool readsOnceButUnrolled(linalg::GenericOp consumer, OpOperand *operand) {
  AffineMap read = consumer.getMatchingIndexingMap(operand);
  return read.isProjectedPermutation() && read.getNumResults() + 1 == consumer.getNumLoops() &&
         unrolledLoopOf(consumer).has_value();
}

/// Whether a number of a row, or of a column, that is computed here is read: one kernel reads the row, computes the
/// number and what is made of both, but not elsewhere in the row.
bool readsComputedVectors(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    const unsigned rank = op.getMatchingIndexingMap(input).getNumResults();
    return rank != 0 && rank < op.getNumLoops() && input->get().getDefiningOp<linalg::GenericOp>();
  });
}

/// Whether a product of an attention stays one when the producer of a factor is computed in it. What looks up where its
/// element lies, as in pages of keys, is an operation of its own in the kernel.
bool staysProduct(linalg::GenericOp producer) {
  return llvm::none_of(producer.getBody()->without_terminator(), [](Operation &op) {
    return isa<linalg::IndexOp>(op) || op.getNumRegions() != 0 ||
           llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<ShapedType>(type); });
  });
}

/// Whether `operand` is a copy of a tensor in which the reduced elements of the product are adjacent, as in the weights
/// of a layer that are turned around in front of it: the product reads these as they lie. Rows of an image's patch are
/// too short for that.
bool isTurnedAway(linalg::GenericOp consumer, OpOperand *operand, const Contraction &product) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!producer || !isCopy(producer))
    return false;
  const AffineMap read = consumer.getMatchingIndexingMap(operand), source = producer.getIndexingMapsArray().front(),
                  written = producer.getIndexingMapsArray().back();
  if (!source.isPermutation() || !written.isPermutation() || source.getNumResults() == 0)
    return false;
  constexpr int64_t kShortestRun = 64; // bytes
  auto type = cast<RankedTensorType>(producer.getDpsInputs()[0].getType());
  if (!type.isDynamicDim(type.getRank() - 1) &&
      type.getShape().back() * int64_t(elementBytes(type.getElementType())) < kShortestRun)
    return false;
  const unsigned last = *written.getResultPosition(source.getResults().back());
  auto loop = dyn_cast<AffineDimExpr>(read.getResult(last));
  return loop && llvm::is_contained(product.reduced, loop.getPosition());
}

/// Whether a product has many rows and columns whatever sizes there are: of images whose number is unknown, each has
/// many.
bool hasManyOfBoth(const Contraction &product) {
  const SmallVector<int64_t> sizes = linalg::GenericOp(product.op).getStaticLoopRanges();
  auto areMany = [&](ArrayRef<unsigned> loops) {
    int64_t known = 1;
    for (unsigned loop : loops)
      known *= ShapedType::isDynamic(sizes[loop]) ? 1 : sizes[loop];
    return known > kMostFewRead;
  };
  return areMany(product.rows) && areMany(product.columns);
}

/// Whether tensor cores multiply `operand` by many rows: each tile of these would compute it again, one element after
/// the other, where a copy of it comes by itself (measured on an H100: int8 weights of 128 rows take 255 us so, 114 us
/// with a kernel that stores them).
bool isFactorOfManyRows(linalg::GenericOp consumer, OpOperand *operand) {
  if (consumer.isDpsInit(operand) || isOfAttention(consumer) || readsWindows(consumer))
    return false;
  const std::optional<Contraction> product = contractionOf(consumer);
  if (product && isTurnedAway(consumer, operand, *product))
    return false;
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
  return product && isForTensorCores(*product) && knownSizeOf(consumer, product->reduced) && !fewRowsOf(*product) &&
         ((knownSizeOf(consumer, product->rows) && knownSizeOf(consumer, product->columns)) || hasManyOfBoth(*product));
}

/// What was fused into another one is dead, and still there.
bool hasOneReader(linalg::GenericOp op) {
  return llvm::count_if(op->getUses(), [](OpOperand &use) { return !isOpTriviallyDead(use.getOwner()); }) == 1;
}

/// What reads, at the same place, a sum that nobody else reads; null where there is none.
linalg::GenericOp sumBehind(OpOperand *input) {
  auto op = cast<linalg::GenericOp>(input->getOwner());
  auto sum = input->get().getDefiningOp<linalg::GenericOp>();
  const bool isSum = sum && sum.getNumReductionLoops() != 0 && hasOneReader(sum) && sum->getBlock() == op->getBlock() &&
                     op.getMatchingIndexingMap(input).isPermutation();
  return isSum ? sum : linalg::GenericOp();
}

/// A sum of products that is rounded to a narrower type: whoever stores it stores that.
bool isRoundedProduct(linalg::GenericOp producer) {
  Block &body = *producer.getBody();
  if (producer.getNumDpsInputs() != 1 || !llvm::hasNItems(body, 2) || !isa<arith::TruncFOp>(body.front()))
    return false;
  linalg::GenericOp sum = sumBehind(producer.getDpsInputOperand(0));
  return sum && (contractionOf(sum) || isWindow(sum)) && !isOfAttention(sum);
}

/// Whether the producer narrows what comes of a product, and its reader reads another one as well: one of the two
/// kernels stores what the other reads, and had better store that.
bool meetsOtherProduct(linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  return consumer.getNumReductionLoops() == 0 && narrowsProduct(producer) &&
         llvm::any_of(consumer.getDpsInputOperands(), [&](OpOperand *other) {
           auto op = other->get().getDefiningOp<linalg::GenericOp>();
           return other != operand && op && op != producer && consumer.getMatchingIndexingMap(other).isPermutation() &&
                  (isBehindProduct(op) || (op.getNumReductionLoops() != 0 && contractionOf(op)));
         });
}

/// Whether the producer computes something of each element of a sum, or of what others compute of it: the kernel of the
/// sum does that with what it has in registers, and stores what comes out. One that reads it would read the sum, as
/// often as it computes the element. What is computed between may be read by several, such as the argument of a gelu.
bool isBehindSum(linalg::GenericOp producer) {
  constexpr size_t kMostBetween = 64;
  SmallVector<linalg::GenericOp> left = {producer};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!left.empty()) {
    linalg::GenericOp op = left.pop_back_val();
    if (op.getNumReductionLoops() != 0 || !seen.insert(op).second || seen.size() > kMostBetween)
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto before = input->get().getDefiningOp<linalg::GenericOp>();
      if (!before || before->getBlock() != producer->getBlock() || !op.getMatchingIndexingMap(input).isPermutation())
        continue;
      if (sumBehind(input))
        return true;
      left.push_back(before);
    }
  }
  return false;
}

constexpr int64_t kFewQueries = 128;

int64_t sizeOf(linalg::GenericOp op, ArrayRef<unsigned> loops) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t size = 1;
  for (unsigned loop : loops)
    size = ShapedType::isDynamic(sizes[loop]) || size > kFewQueries ? kFewQueries + 1 : size * sizes[loop];
  return size;
}

/// Whether an attention of many queries had better read the factor than compute it: it does so in each of its tiles,
/// element by element, where a copy comes by itself; and what it would read is as much or more. So it is with rotated
/// keys. Few queries read each key about once.
bool isFactorOfManyQueries(linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  const std::optional<Contraction> product = contractionOf(consumer);
  if (!product || producer->getNumResults() != 1)
    return false;
  const bool isLeft = llvm::is_contained(product->left.inputs, operand->getOperandNumber());
  const bool isOfScores = llvm::none_of(
      consumer.getDpsInputs(), [](Value input) { return isa_and_nonnull<linalg::SoftmaxOp>(input.getDefiningOp()); });
  const int64_t left = sizeOf(consumer, product->rows), right = sizeOf(consumer, product->columns);
  if ((isOfScores ? std::min(left, right) : isLeft ? right : left) <= kFewQueries)
    return false;
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  unsigned reads = 0;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    auto read = dyn_cast<RankedTensorType>(input->get().getType());
    reads += read && read.getElementTypeBitWidth() >= type.getElementTypeBitWidth() &&
             producer.getMatchingIndexingMap(input).getNumResults() == unsigned(type.getRank());
  }
  for (auto read : producer.getBody()->getOps<tensor::ExtractOp>())
    reads +=
        cast<RankedTensorType>(read.getTensor().getType()).getElementTypeBitWidth() >= type.getElementTypeBitWidth();
  return reads > 1 || isBehindSum(producer);
}

/// Whether `operand` was turned so that the reduced elements of a product on tensor cores are adjacent, and has many
/// rows. Tiles would read the other one element by element.
bool isTurnedForManyRows(linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  if (consumer.isDpsInit(operand) || isOfAttention(consumer) || !isCopy(producer))
    return false;
  const AffineMap read = consumer.getMatchingIndexingMap(operand), source = producer.getIndexingMapsArray().front(),
                  written = producer.getIndexingMapsArray().back();
  if (read.getNumResults() == 0 || source.getNumResults() == 0 || !source.isPermutation() || !written.isPermutation() ||
      source.getResults().back() == written.getResults().back())
    return false;
  const std::optional<Contraction> product = contractionOf(consumer);
  auto last = dyn_cast<AffineDimExpr>(read.getResults().back());
  if (!product || !mayRoundForTensorCores(*product) || !last ||
      !llvm::is_contained(product->reduced, last.getPosition()))
    return false;
  return hasManyOfBoth(*product);
}

} // namespace

bool isView(linalg::GenericOp producer) {
  if (!isCopy(producer))
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

bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || operandsOfBoth(producer, consumer) > kMostOperands ||
      !saysLoopSizes(producer, operand) || readsTurnedCopy(*operand) ||
      (consumer->hasOneUse() && readsTurnedCopy(*consumer->use_begin())))
    return false;
  if (producer->hasAttr(kOwnKernelAttr))
    return false;
  if (producer->hasAttr(kStoredAttr) && consumer->hasAttr(kChainAttr)) // of rows: not for each weight anew
    return false;
  if (isOfAttention(consumer) && !consumer.isDpsInit(operand) &&
      (producer->hasAttr(kStoredAttr) || !staysProduct(producer) || isFactorOfManyQueries(producer, operand)))
    return false;
  if (isRoundedProduct(producer) || meetsOtherProduct(producer, operand))
    return false;
  // What others read too is a result of both then, so it must have all the loops of the reader.
  if (isView(producer))
    return producer->hasOneUse() ||
           (consumer.getNumReductionLoops() == 0 && consumer.getMatchingIndexingMap(operand).isPermutation());
  if (isLong(producer, consumer))
    return false;
  // A loop would compute what is before it in every round.
  if (!producer->hasOneUse() || producer->getBlock() != consumer->getBlock())
    return false;
  if (isBorderOfProduct(producer, operand))
    return true;
  if (isWindow(consumer) && !consumer.isDpsInit(operand))
    return isCheap(producer) || isBorder(producer);
  if (readsEitherWay(*operand))
    return true;
  if (isFactorOfManyRows(consumer, operand) || isTurnedForManyRows(producer, operand))
    return false;
  if (!consumer.isDpsInit(operand) && !isOfAttention(consumer) && isBehindSum(producer) && contractionOf(consumer))
    return false;
  if (turnsPlaces(*operand))
    return false;
  // Elements that a slice leaves need not be computed.
  const AffineMap read = consumer.getMatchingIndexingMap(operand);
  return read.isPermutation() || (namesEachOnce(read) && !readsComputedVectors(producer)) || isCheap(producer) ||
         readsOnceButUnrolled(consumer, operand);
}

void storeFactors(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    if (!op.hasPureTensorSemantics() || !isOfAttention(op))
      return;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
          producer && producer.getNumReductionLoops() == 0 && isFactorOfManyQueries(producer, operand))
        producer->setAttr(kStoredAttr, UnitAttr::get(op.getContext()));
  });
}

} // namespace tenon::compiler::dispatch
