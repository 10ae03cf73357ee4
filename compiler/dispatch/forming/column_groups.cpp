// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/column_groups.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/parts_put_together.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/splits/centred_sums.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

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

bool runsAcrossRows(const Group &group) {
  const std::optional<unsigned> inner = innerAxisOf(group);
  return inner && !group.isReduced[*inner];
}

/// A variance, whose sums are of one step.
static bool isCentredIn(const Group &group, linalg::GenericOp op) {
  const std::optional<CentredSum> sum = centredSumOf(op);
  return sum && group.contains(sum->plain) && !centredSumOf(sum->plain);
}

/// Whether columns are so short that the threads that read one keep it, and what they all read lies in one order.
static bool keepsColumns(const Group &group) {
  int64_t rows = 1;
  std::optional<unsigned> inner; // axis along which tensors with an element for each of the group's lie
  llvm::SmallPtrSet<void *, 4> tensors;
  for (linalg::GenericOp op : group.ops) {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (op.getNumReductionLoops() != 0) {
      if (!isTreeReduction(op))
        return false;
      rows = 1;
      for (auto [size, type] : llvm::zip_equal(sizes, op.getIteratorTypesArray()))
        if (type == utils::IteratorType::reduction) {
          if (size == ShapedType::kDynamic || size > kMostOfKeptColumn)
            return false;
          rows *= size;
        }
    }
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (group.contains(input->get().getDefiningOp()) || !group.coversAllAxes(op) || !map.isPermutation())
        continue;
      tensors.insert(input->get().getAsOpaquePointer());
      const unsigned axis = group.axisOf.lookup(op)[map.getDimPosition(map.getNumResults() - 1)];
      if (inner.value_or(axis) != axis || group.isReduced[axis])
        return false;
      inner = axis;
    }
  }
  return inner && rows * int64_t(tensors.size()) <= kMostOfKeptColumn;
}

bool takesOneStep(const Group &group, std::string &reason) {
  if (keepsColumns(group))
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

} // namespace tenon::compiler::dispatch
