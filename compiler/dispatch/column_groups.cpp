// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/column_groups.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/parts_put_together.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/splits/centred_sums.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

// Rows of a column of unknown length that are kept: of more, too many places may be for none.
static constexpr int64_t kMostUnknownKept = 64;

/// The axis along which the largest tensor in memory lies, if it is one.
std::optional<unsigned> innerAxisOf(const Group &group) {
  int64_t best = -1;
  std::optional<unsigned> inner;
  for (linalg::GenericOp op : group.ops) {
    if (const std::optional<unsigned> loop = loopOfPlaces(op); loop && int64_t(op.getNumLoops()) > best) {
      best = op.getNumLoops();
      inner = group.axisOf.lookup(op)[*loop];
    }
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type || group.contains(operand.get().getDefiningOp()) || type.getRank() <= best)
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto last = map.getNumResults() ? dyn_cast<AffineDimExpr>(map.getResults().back()) : AffineDimExpr(nullptr);
      if (!last)
        continue;
      best = type.getRank();
      inner = group.axisOf.lookup(op)[last.getPosition()];
    }
  }
  return inner;
}

/// Neighbours in memory belong to different results, so a block computes many results at once and sees each element in
/// passing only.
bool runsAcrossRows(const Group &group) {
  const std::optional<unsigned> inner = innerAxisOf(group);
  return inner && !group.isReduced[*inner];
}

namespace {

/// A variance, whose sums are of one step.
bool isCentredIn(const Group &group, linalg::GenericOp op) {
  const std::optional<CentredSum> sum = centredSumOf(op);
  return sum && group.contains(sum->plain) && !centredSumOf(sum->plain);
}

/// What the threads of a block keep, where what they all read lies in one order.
struct KeptColumns {
  int64_t rows = 1;    // as far as that is known
  bool isKnown = true; // whether there are no more
  int64_t tensors = 0;
  int64_t mostRows() const { return kMostOfKeptColumn / std::max<int64_t>(tensors, 1); }
};
std::optional<KeptColumns> keptColumns(const Group &group) {
  KeptColumns kept;
  std::optional<unsigned> inner; // axis along which tensors with an element for each of the group's lie
  llvm::SmallPtrSet<void *, 4> tensors;
  for (linalg::GenericOp op : group.ops) {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (op.getNumReductionLoops() != 0) {
      if (!isTreeReduction(op))
        return std::nullopt;
      kept.rows = 1;
      for (auto [size, type] : llvm::zip_equal(sizes, op.getIteratorTypesArray()))
        if (type == utils::IteratorType::reduction) {
          if (size > kMostOfKeptColumn)
            return std::nullopt;
          kept.isKnown &= size != ShapedType::kDynamic;
          kept.rows *= size == ShapedType::kDynamic ? 1 : size;
        }
    }
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (group.contains(input->get().getDefiningOp()) || !group.coversAllAxes(op) || !map.isPermutation())
        continue;
      tensors.insert(input->get().getAsOpaquePointer());
      const unsigned axis = group.axisOf.lookup(op)[map.getDimPosition(map.getNumResults() - 1)];
      if (inner.value_or(axis) != axis || group.isReduced[axis])
        return std::nullopt;
      inner = axis;
    }
  }
  kept.tensors = int64_t(tensors.size());
  return inner && kept.rows <= kept.mostRows() ? std::optional(kept) : std::nullopt;
}

} // namespace

bool takesOneStep(const Group &group, bool keepsUnknown, std::string &reason) {
  const bool isKept = llvm::any_of(group.ops, [](Operation *op) { return op->hasAttr(kKeptAttr); });
  if (const std::optional<KeptColumns> kept = keptColumns(group); kept && (kept->isKnown || keepsUnknown || isKept))
    return true;
  for (linalg::GenericOp op : group.ops) {
    const bool again = llvm::any_of(op->getOperands(), [&](Value operand) { return group.knowsReduction(operand); });
    if (again && !isCentredIn(group, op) && !(group.isPerRow(op) && op.getNumReductionLoops() == 0)) {
      reason = "the reduced elements are not adjacent in memory, and it reads them again";
      return false;
    }
  }
  return true;
}

std::optional<int64_t> mostKeptRows(const Group &group) {
  if (group.hasWeights() || !group.hasReduction() || !runsAcrossRows(group))
    return std::nullopt;
  const std::optional<KeptColumns> kept = keptColumns(group);
  std::string reason;
  if (!kept || kept->isKnown || takesOneStep(group, /*keepsUnknown=*/false, reason))
    return std::nullopt;
  return std::min(kept->mostRows(), kMostUnknownKept);
}

} // namespace tenon::compiler::dispatch
