// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/axis_finder.h"

#include "compiler/dispatch/analysis/groups/gate_loop.h"
#include "compiler/dispatch/analysis/products/contraction.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The loops of two operations that run over the same part of a dimension: both read it at d + 3, and are as long.
std::optional<std::pair<unsigned, unsigned>> sameOfOneLoop(linalg::GenericOp x, AffineExpr there, linalg::GenericOp y,
                                                           AffineExpr here) {
  auto onlyLoop = [](linalg::GenericOp op, AffineExpr expr) -> std::optional<unsigned> {
    std::optional<unsigned> only;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (!expr.isFunctionOfDim(loop))
        continue;
      if (only)
        return std::nullopt;
      only = loop;
    }
    return only;
  };
  std::optional<unsigned> a = onlyLoop(x, there), b = onlyLoop(y, here);
  if (!a || !b)
    return std::nullopt;
  const int64_t length = x.getStaticLoopRanges()[*a];
  const bool isSame = there.replace(getAffineDimExpr(*a, x.getContext()), getAffineDimExpr(*b, x.getContext())) == here;
  if (!isSame || ShapedType::isDynamic(length) || length != y.getStaticLoopRanges()[*b])
    return std::nullopt;
  return std::pair(*a, *b);
}

/// Whether elements that are adjacent in what it computes are so in what it reads of as many dimensions.
bool liesAsItRuns(linalg::GenericOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return map.isProjectedPermutation() && (map.getNumResults() < op.getNumLoops() || map.isIdentity());
  });
}

} // namespace

bool runAlike(linalg::GenericOp x, linalg::GenericOp y) {
  const SmallVector<int64_t> sizes = x.getStaticLoopRanges();
  return !sizes.empty() && !llvm::is_contained(sizes, ShapedType::kDynamic) && sizes == y.getStaticLoopRanges() &&
         x.getIteratorTypesArray() == y.getIteratorTypesArray() && liesAsItRuns(x) && liesAsItRuns(y);
}

AxisFinder::AxisFinder(ArrayRef<linalg::GenericOp> ops) {
  for (linalg::GenericOp op : ops) {
    firstLoop_[op] = axisOf_.size();
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      axisOf_.push_back(axisOf_.size());
    group.ops.push_back(op);
  }
}

bool AxisFinder::run(std::string &reason) {
  for (linalg::GenericOp op : group.ops)
    for (OpOperand &operand : op->getOpOperands())
      if (!tieToProducer(op, operand, reason))
        return false;
  // Operations of an attention are tied by what they compute. Its products may well read one tensor, such as keys
  // that are the values, at dimensions that have nothing to do with each other.
  if (softmaxes.empty() && !holdsChain(group.ops))
    tieReadersOfMemory();
  if (!tieTwins(reason))
    return false;
  if (softmaxes.empty() && !holdsChain(group.ops))
    tieBeside();
  llvm::SmallDenseMap<unsigned, unsigned> numbers;
  for (linalg::GenericOp op : group.ops) {
    SmallVector<unsigned> &axes = group.axisOf[op];
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      axes.push_back(numbers.insert({axisOf(op, loop), numbers.size()}).first->second);
  }
  group.isReduced.assign(numbers.size(), false);
  return true;
}

bool AxisFinder::join(unsigned a, unsigned b) {
  if (a == b)
    return true;
  for (linalg::GenericOp op : group.ops) {
    ArrayRef<unsigned> axes = ArrayRef(axisOf_).slice(firstLoop_.lookup(op), op.getNumLoops());
    if (llvm::is_contained(axes, a) && llvm::is_contained(axes, b))
      return false;
  }
  std::replace(axisOf_.begin(), axisOf_.end(), b, a);
  return true;
}

bool AxisFinder::isGates(unsigned axis) const {
  return llvm::any_of(group.ops, [&](linalg::GenericOp op) {
    const std::optional<unsigned> loop = gatesLoopOf(op);
    return loop && axisOf(op, *loop) == axis;
  });
}

bool AxisFinder::tieToProducer(linalg::GenericOp op, OpOperand &operand, std::string &reason) {
  Value computed = beforeSoftmax(operand.get());
  auto producer = computed.getDefiningOp<linalg::GenericOp>();
  if (!producer || !firstLoop_.contains(producer))
    return true;
  if (computed != operand.get())
    softmaxes.insert(operand.get().getDefiningOp());
  if (op.isDpsInit(&operand)) {
    reason = "a reduction starts from it";
    return false;
  }
  AffineMap read = op.getMatchingIndexingMap(&operand);
  AffineMap written = producer.getIndexingMapMatchingResult(cast<OpResult>(computed));
  for (auto [there, here] : llvm::zip_equal(written.getResults(), read.getResults())) {
    std::optional<unsigned> produced = loopOf(there), consumed = loopOf(here);
    if (produced && isa<AffineConstantExpr>(here) && isGates(axisOf(producer, *produced)))
      continue;
    if (!produced || !consumed) {
      reason = "it reads what is computed elsewhere than it is computed";
      return false;
    }
    if (!join(axisOf(producer, *produced), axisOf(op, *consumed))) {
      reason = "it reads what another operation of the kernel computes at two positions at once";
      return false;
    }
  }
  return true;
}

void AxisFinder::tieReadersOfMemory() {
  llvm::DenseMap<Value, std::pair<linalg::GenericOp, AffineMap>> first;
  for (linalg::GenericOp op : group.ops)
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isa<RankedTensorType>(input->get().getType()) || firstLoop_.contains(input->get().getDefiningOp()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(input);
      auto [reader, isFirst] = first.insert({input->get(), {op, map}});
      if (isFirst)
        continue;
      auto [other, otherMap] = reader->second;
      for (auto [there, here] : llvm::zip_equal(otherMap.getResults(), map.getResults())) {
        if (std::optional<unsigned> a = loopOf(there), b = loopOf(here); a && b)
          join(axisOf(other, *a), axisOf(op, *b));
        else if (auto loops = sameOfOneLoop(other, there, op, here))
          join(axisOf(other, loops->first), axisOf(op, loops->second));
      }
    }
}

void AxisFinder::tieBeside() {
  // Those with all the axes of their part.
  SmallVector<linalg::GenericOp> leaders;
  llvm::SmallDenseMap<unsigned, size_t> partOf; // by axis
  for (linalg::GenericOp op : group.ops) {
    if (op.getNumLoops() == 0)
      continue;
    std::optional<size_t> part;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (auto found = partOf.find(axisOf(op, loop)); found != partOf.end()) {
        if (part.value_or(found->second) != found->second)
          return; // an operation of two parts
        part = found->second;
      }
    if (!part) {
      part = leaders.size();
      leaders.push_back(op);
    } else if (op.getNumLoops() > leaders[*part].getNumLoops()) {
      leaders[*part] = op;
    }
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      partOf[axisOf(op, loop)] = *part;
  }
  for (linalg::GenericOp op : ArrayRef(leaders).drop_front(leaders.empty() ? 0 : 1))
    if (runAlike(leaders.front(), op))
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        join(axisOf(leaders.front(), loop), axisOf(op, loop));
}

static bool reads(linalg::GenericOp op, linalg::GenericOp producer) {
  return llvm::any_of(op.getDpsInputs(), [&](Value input) { return input.getDefiningOp() == producer; });
}

bool AxisFinder::tieTwins(std::string &reason) {
  linalg::GenericOp weights = holdsChain(group.ops) ? weightsOf(group.ops) : linalg::GenericOp();
  if (!weights || weights->getNumResults() == 1)
    return true;
  reason = "last products of one chain have the same columns";
  std::optional<std::pair<linalg::GenericOp, unsigned>> first;
  for (linalg::GenericOp op : group.ops) {
    const std::optional<Contraction> product = reads(op, weights) ? contractionOf(op) : std::nullopt;
    if (!product)
      continue;
    auto ofWeights = [&](const ContractionSide &side) {
      return side.inputs.size() == 1 && op.getDpsInputs()[side.inputs.front()].getDefiningOp() == weights;
    };
    const ArrayRef<unsigned> columns = ofWeights(product->left) ? product->columns : product->rows;
    if (columns.size() != 1)
      return false;
    if (!first) {
      first = {op, columns.front()};
      continue;
    }
    const int64_t size = op.getStaticLoopRanges()[columns.front()];
    if (ShapedType::isDynamic(size) || size != first->first.getStaticLoopRanges()[first->second] ||
        !join(axisOf(first->first, first->second), axisOf(op, columns.front())))
      return false;
  }
  reason.clear();
  return true;
}

} // namespace tenon::compiler::dispatch
