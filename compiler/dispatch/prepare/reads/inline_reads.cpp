// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/reads/inline_reads.h"

#include "compiler/dispatch/analysis/groups/behind_product.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/parts_put_together.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Each tensor is a parameter of the kernel.
constexpr size_t kMostTensors = 32;
// Of one body: beyond it a thread runs out of registers.
constexpr size_t kMostWork = 512;

/// Whether a value that the body has is the same at each element: from outside, or computed from such, as the last
/// place of a tensor of unknown size.
bool isSameEverywhere(Value value, linalg::GenericOp op, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 4;
  if (value.getParentBlock() != op.getBody())
    return true;
  Operation *by = value.getDefiningOp();
  return by && depth < kMostDepth && by->getNumRegions() == 0 && isa<arith::ArithDialect>(by->getDialect()) &&
         llvm::all_of(by->getOperands(), [&](Value operand) { return isSameEverywhere(operand, op, depth + 1); });
}

/// The loop whose index the value is but for an offset and the ends of a tensor; none where it is anything else.
std::optional<unsigned> loopBehind(Value index, linalg::GenericOp op) {
  while (true) {
    Operation *inner = index.getDefiningOp();
    if (!inner || inner->getBlock() != op.getBody())
      return std::nullopt;
    if (auto loop = dyn_cast<linalg::IndexOp>(inner))
      return loop.getDim();
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(inner))
      return std::nullopt;
    auto isOutside = [&](Value value) { return isSameEverywhere(value, op); };
    if (isOutside(inner->getOperand(1)))
      index = inner->getOperand(0);
    else if (isOutside(inner->getOperand(0)) && !isa<arith::SubIOp>(inner))
      index = inner->getOperand(1);
    else
      return std::nullopt;
  }
}

/// Whether the reader reads no element twice, but at the ends of the tensor, which are read instead of what lies
/// outside.
bool readsOnce(tensor::ExtractOp read, linalg::GenericOp reader) {
  llvm::SmallDenseSet<unsigned> loops;
  for (auto [index, size] : llvm::zip_equal(read.getIndices(), read.getTensor().getType().getShape())) {
    std::optional<unsigned> loop = loopBehind(index, reader);
    if (size != 1 && (!loop || !loops.insert(*loop).second))
      return false;
  }
  return loops.size() == reader.getNumLoops();
}

/// Whether a value is the size of a tensor's dimension.
bool isSizeOf(Value value, Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return getConstantIntValue(value) == type.getDimSize(dimension);
  if (auto dim = value.getDefiningOp<tensor::DimOp>())
    return dim.getSource() == tensor && dim.getConstantIndex() == dimension;
  auto computed = tensor.getDefiningOp<linalg::GenericOp>();
  auto empty = computed ? computed.getTiedOpOperand(cast<OpResult>(tensor))->get().getDefiningOp<tensor::EmptyOp>()
                        : tensor::EmptyOp();
  return empty && empty.getDynamicSize(dimension) == value;
}

/// Whether a body asks for an element that is there, or the tensor has none, wherever in the loops it is computed, and
/// at the start of loops without a position: places are loops' as they stand, or clamped to the tensor's.
bool staysInside(tensor::ExtractOp read) {
  auto isClamped = [&](Value index, int64_t dimension) {
    auto lower = index.getDefiningOp<arith::MaxSIOp>();
    auto upper = lower ? lower.getLhs().getDefiningOp<arith::MinSIOp>() : arith::MinSIOp();
    if (!upper || !isConstantIntValue(lower.getRhs(), 0))
      return false;
    const std::optional<int64_t> last = getConstantIntValue(upper.getRhs());
    if (last && !read.getTensor().getType().isDynamicDim(dimension))
      return *last + 1 == read.getTensor().getType().getDimSize(dimension);
    auto before = upper.getRhs().getDefiningOp<arith::SubIOp>();
    return before && isConstantIntValue(before.getRhs(), 1) && isSizeOf(before.getLhs(), read.getTensor(), dimension);
  };
  for (auto [dimension, index] : llvm::enumerate(read.getIndices()))
    if (!index.getDefiningOp<linalg::IndexOp>() && !isClamped(index, int64_t(dimension)))
      return false;
  return true;
}

/// Where the tensor has no element, the reader asks for one that nobody looks at, and reading it must find that
/// nothing is there: each operand is empty then too, or no dimension can be.
bool isSafeWhereEmpty(linalg::GenericOp producer) {
  const SmallVector<int64_t> sizes = producer.getStaticLoopRanges();
  auto mayBeEmpty = [&](unsigned loop) { return sizes[loop] <= 0; };
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (!mayBeEmpty(loop))
      continue;
    if (!llvm::all_of(producer.getBody()->getOps<tensor::ExtractOp>(), staysInside))
      return false;
    for (OpOperand *input : producer.getDpsInputOperands())
      for (AffineExpr expr : producer.getMatchingIndexingMap(input).getResults())
        if (expr.isFunctionOfDim(loop) && !isa<AffineDimExpr>(expr))
          return false;
  }
  // What does not depend on such a loop at all is read as it would be anyway: it has elements of its own.
  return true;
}

bool isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
         op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty();
}

/// Elements of another tensor, read by place, and perhaps widened or of another sign: nothing is lost where it is done
/// again.
bool isMove(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<tensor::ExtractOp, arith::ConstantOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::NegFOp>(
               inner) ||
           llvm::all_of(inner.getResultTypes(), [](Type type) { return type.isIndex(); });
  });
}

size_t workOf(linalg::GenericOp op) {
  return llvm::range_size(op.getBody()->getOperations());
}

size_t tensorsOf(linalg::GenericOp producer, linalg::GenericOp reader) {
  llvm::SmallPtrSet<void *, 32> tensors;
  for (linalg::GenericOp op : {producer, reader}) {
    for (Value operand : op->getOperands())
      tensors.insert(operand.getAsOpaquePointer());
    op.getRegion().walk([&](tensor::ExtractOp read) { tensors.insert(read.getTensor().getAsOpaquePointer()); });
  }
  return tensors.size();
}

/// Whether computing the elements of both sides of a boundary in one kernel is faster than storing them between two.
/// It is where they are computed from one tensor, which is read instead of them. Of several it is, measured for rotary
/// embedding on an H200, by a third for f32 of known sizes, not where threads hold more lanes or places cost divisions.
/// A pad has one side that is computed, and nothing to compute on the other.
bool isWorthIt(linalg::GenericOp producer, linalg::GenericOp reader) {
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  llvm::SmallPtrSet<void *, 4> whole;
  for (OpOperand *input : producer.getDpsInputOperands())
    if (producer.getMatchingIndexingMap(input).getNumResults() == producer.getNumLoops())
      whole.insert(input->get().getAsOpaquePointer());
  producer.getBody()->walk([&](tensor::ExtractOp read) { whole.insert(read.getTensor().getAsOpaquePointer()); });
  const bool isPad =
      llvm::hasSingleElement(reader.getBody()->getOps<tensor::ExtractOp>()) && reader.getNumDpsInputs() == 0;
  return whole.size() == 1 || isPad || (type.hasStaticShape() && type.getElementTypeBitWidth() >= 32);
}

/// Whether an image is turned so that a convolution reads its channels side by side (products/images/channels_last.h):
/// its border copies them 16 bytes at a time, and would read them one by one where they were.
bool isTurnedForWindows(linalg::GenericOp producer, linalg::GenericOp reader) {
  const SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
  const bool isTurned = producer.getNumDpsInputs() == 1 && llvm::hasSingleElement(*producer.getBody()) &&
                        llvm::all_of(maps, [](AffineMap map) { return map.isPermutation(); }) &&
                        maps[0].getNumResults() != 0 && maps[0].getResults().back() != maps[1].getResults().back();
  constexpr int64_t kVectorBytes = 16;
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  const bool isInVectors = type.getRank() != 0 && !type.isDynamicDim(type.getRank() - 1) &&
                           type.getShape().back() * elementBytes(type.getElementType()) % kVectorBytes == 0;
  return isTurned && isInVectors && llvm::any_of(reader->getUsers(), [](Operation *user) {
           auto sum = dyn_cast<linalg::GenericOp>(user);
           return sum && sum.getNumReductionLoops() != 0 && readsWindows(sum);
         });
}

/// Whether something is reduced that is computed of the operation's result, a few operations later.
bool feedsReduction(linalg::GenericOp op, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 8;
  return depth < kMostDepth && llvm::any_of(
                                   op->getUsers(),
                                   [&](Operation *user) {
                                     auto next = dyn_cast<linalg::GenericOp>(user);
                                     return next &&
                                            (next.getNumReductionLoops() != 0 || feedsReduction(next, depth + 1));
                                   });
}

/// A pad of a pad, or of another body that reads by place: in kernels of rows, of which there are many, the boundaries
/// of both would take the compiler several times as long.
bool isOfManyBoundaries(linalg::GenericOp producer, linalg::GenericOp reader) {
  return !isMove(producer) && !producer.getBody()->getOps<tensor::ExtractOp>().empty() &&
         llvm::is_contained(producer.getStaticLoopRanges(), ShapedType::kDynamic) && feedsReduction(reader);
}

/// Whether the kernel of a product computes it and stores narrow elements, which are read instead of wide sums.
bool isStoredNarrow(linalg::GenericOp producer) {
  auto isWide = [](Value tensor) { return elementBytes(getElementTypeOrSelf(tensor.getType())) > 2; };
  return isBehindProduct(producer) && !isWide(producer->getResult(0));
}

bool shouldInline(tensor::ExtractOp read, linalg::GenericOp reader) {
  auto producer = read.getTensor().getDefiningOp<linalg::GenericOp>();
  return producer && producer != reader && producer->getBlock() == reader->getBlock() && isElementwise(producer) &&
         !producer->hasAttr(kOwnKernelAttr) && !isTurnedForWindows(producer, reader) && !turnsOperand(producer) &&
         (isMove(producer) || (producer->hasOneUse() && isWorthIt(producer, reader) && readsOnce(read, reader))) &&
         !isStoredNarrow(producer) && isSafeWhereEmpty(producer) && !isOfManyBoundaries(producer, reader) &&
         tensorsOf(producer, reader) <= kMostTensors && workOf(producer) + workOf(reader) <= kMostWork;
}

/// Computes the element in place of the read.
void inlineRead(tensor::ExtractOp read) {
  auto producer = read.getTensor().getDefiningOp<linalg::GenericOp>();
  OpBuilder b(read);
  const Location loc = read.getLoc();
  SmallVector<Value> loops(producer.getNumLoops());
  AffineMap written = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  for (auto [expr, index] : llvm::zip_equal(written.getResults(), read.getIndices()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = index;
  IRMapping values;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    BlockArgument argument = producer.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    if (!isa<RankedTensorType>(input->get().getType())) {
      values.map(argument, input->get());
      continue;
    }
    SmallVector<Value> indices;
    for (AffineExpr expr : producer.getMatchingIndexingMap(input).getResults())
      indices.push_back(affine::expandAffineExpr(b, loc, expr, loops, {}));
    values.map(argument, tensor::ExtractOp::create(b, loc, input->get(), indices));
  }
  for (Operation &inner : producer.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      values.map(index.getResult(), loops[index.getDim()]);
    else
      b.clone(inner, values);
  }
  read.replaceAllUsesWith(values.lookupOrDefault(producer.getBody()->getTerminator()->getOperand(0)));
  read.erase();
  if (producer->use_empty())
    producer.erase();
}

} // namespace

bool inlineReads(func::FuncOp function) {
  bool changed = false;
  function.walk([&](linalg::GenericOp reader) {
    if (!reader.hasPureTensorSemantics() || reader.getNumReductionLoops() != 0)
      return;
    for (bool again = true; again;) {
      again = false;
      for (auto read : llvm::make_early_inc_range(reader.getBody()->getOps<tensor::ExtractOp>()))
        if (shouldInline(read, reader)) {
          inlineRead(read);
          again = changed = true;
          break; // what was read by the producer is read here now
        }
    }
  });
  return changed;
}

} // namespace tenon::compiler::dispatch
