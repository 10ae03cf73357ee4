// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/form_group.h"

#include "compiler/dispatch/analysis/groups/attention_group.h"
#include "compiler/dispatch/analysis/groups/axis_finder.h"
#include "compiler/dispatch/analysis/groups/gates.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Whether it computes each element from one other, by one operation at most.
bool isCast(linalg::GenericOp producer) {
  return producer.getNumDpsInputs() == 1 && llvm::range_size(producer.getBody()->without_terminator()) <= 1;
}

/// The side of a product that its kernel computes: that of few rows which is read once, or weights of few bits in
/// tiles.
const ContractionSide *computedSideOf(const Contraction &product, const std::optional<FewRows> &few) {
  if (few)
    return few->wide;
  if (!mayTilesCompute(product))
    return nullptr;
  const bool left = isOfFewBits(product, product.left), right = isOfFewBits(product, product.right);
  return left == right ? nullptr : left ? &product.left : &product.right;
}

/// Whether `op` computes a factor of a product whose kernel reads that side once, at every place of it, or computes it
/// in its tiles. What the other side is computed from would be computed by every block: a cast may be, of few rows.
bool isFactor(linalg::GenericOp op, linalg::GenericOp product, const Group &group) {
  const std::optional<Contraction> form = contractionOf(product);
  const std::optional<FewRows> few = fewRowsOf(*form);
  const ContractionSide *computed = computedSideOf(*form, few);
  if (!computed || (!few && !isWeightOfFewBits(op)) || op->getNumResults() != 1 ||
      isReadOutside(op->getResult(0), group) || group.knowsReduction(op->getResult(0)))
    return false;
  // It, or what computes from it, is a factor.
  for (OpOperand &use : op->getUses()) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || !group.contains(reader))
      return false;
    const bool isWide = reader == product ? llvm::is_contained(computed->inputs, use.getOperandNumber())
                                          : isFactor(reader, product, group);
    if (!isWide && !(few && reader == product && !product.isDpsInit(&use) && isCast(op)))
      return false;
  }
  return true;
}

/// Whether a reduction that reads elements several times over, or in order, may have company: what is done with each
/// element of its result, and what a factor of a contraction is computed from.
bool mayShareKernel(linalg::GenericOp reduction, const Group &group, std::string &reason) {
  if (!reductionBodyOf(reduction)) {
    reason = "a reduction combines its elements in a way that only one thread in order can";
    return false;
  }
  const bool isProduct = !isWindow(reduction);
  const std::string what = isProduct ? "a contraction" : "a window";
  for (linalg::GenericOp op : group.ops) {
    if (op == reduction)
      continue;
    if (reduces(op)) {
      reason = what + " shares its kernel with no other reduction";
      return false;
    }
    if (!group.isPerRow(op) && !(isProduct && isFactor(op, reduction, group))) {
      reason = what + " shares its kernel only with what is computed from each element of its result";
      return false;
    }
  }
  return true;
}

/// A body that reads a tensor by itself reads it anywhere: it must be stored before.
bool readsAnywhere(const Group &group, std::string &reason) {
  for (linalg::GenericOp op : group.ops)
    for (Operation *user : op->getUsers())
      if (!isa<linalg::GenericOp>(user))
        for (Operation *parent = user->getParentOp(); parent; parent = parent->getParentOp())
          if (group.contains(parent)) {
            reason = "its body reads any element of the result";
            return true;
          }
  return false;
}

/// Whether what reads gates by their numbers may do so in the kernel of their product: it reduces nothing else, and
/// nobody else reads each gate for itself.
bool mayReadGates(const Group &group, std::string &reason) {
  const unsigned gates = *gatesAxisOf(group);
  if (llvm::count_if(group.ops, reduces) != 1) {
    reason = "gates share their kernel with no other reduction";
    return false;
  }
  for (linalg::GenericOp op : group.ops)
    if (group.axesOf(op)[gates] &&
        llvm::any_of(op->getResults(), [&](Value value) { return isReadOutside(value, group); })) {
      reason = "the gates that it reads are stored, too";
      return false;
    }
  return true;
}

/// Whether what is computed from the logarithms of an attention's sums has more than one number for each of them, such
/// as what merges the results of two: the kernel knows a logarithm when it stores it, behind its results.
bool spreadsLogSum(const Group &group, ArrayRef<linalg::GenericOp> ops) {
  llvm::SmallPtrSet<Operation *, 4> knows;
  llvm::SmallDenseSet<unsigned> rows;
  linalg::GenericOp logSum = group.logSum;
  knows.insert(logSum);
  for (auto [axis, type] : llvm::zip_equal(group.axisOf.lookup(logSum), logSum.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel)
      rows.insert(axis);
  for (linalg::GenericOp op : ops) {
    if (llvm::none_of(op.getDpsInputs(), [&](Value input) { return knows.contains(input.getDefiningOp()); }))
      continue;
    knows.insert(op);
    if (llvm::any_of(group.axisOf.lookup(op), [&](unsigned axis) { return !rows.contains(axis); }))
      return true;
  }
  return false;
}

} // namespace

std::optional<Group> groupOf(ArrayRef<linalg::GenericOp> ops, std::string &reason) {
  AxisFinder finder(ops);
  if (!finder.run(reason))
    return std::nullopt;
  Group &group = finder.group;
  if (finder.softmaxes.size() > 1) {
    reason = "it holds two softmaxes";
    return std::nullopt;
  }
  if (!finder.softmaxes.empty()) {
    group.softmax = cast<linalg::SoftmaxOp>(finder.softmaxes.front());
    auto logits = group.softmax.getInput().getDefiningOp<linalg::GenericOp>();
    SmallVector<unsigned> axes; // of the softmax's dimensions
    for (AffineExpr expr : logits.getIndexingMapMatchingResult(cast<OpResult>(group.softmax.getInput())).getResults())
      axes.push_back(group.axisOf.lookup(logits)[cast<AffineDimExpr>(expr).getPosition()]);
    group.axisOf[group.softmax] = axes;
    for (linalg::GenericOp op : ops) {
      if (!op->hasAttr(kLogSumExp))
        continue;
      if (group.logSum) {
        reason = "it holds two logarithms of sums";
        return std::nullopt;
      }
      group.logSum = op;
    }
    if (group.logSum && spreadsLogSum(group, ops)) {
      reason = "it reads the logarithms of the attention's sums, which are known behind its results";
      return std::nullopt;
    }
    if (!completesAttention(group, reason) || readsAnywhere(group, reason))
      return std::nullopt;
    return std::move(group);
  }
  if (holdsChain(ops)) {
    group.chained = weightsOf(ops);
    if (!group.chained) {
      reason = "what is computed from a product for another one has a kernel only together with both";
      return std::nullopt;
    }
    if (!completesAttention(group, reason) || readsAnywhere(group, reason))
      return std::nullopt;
    return std::move(group);
  }
  const linalg::GenericOp *first = llvm::find_if(group.ops, reduces);
  auto reducedBy = [&](linalg::GenericOp op) {
    SmallVector<bool> axes(group.numAxes());
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
      axes[group.axisOf[op][loop]] = type == utils::IteratorType::reduction;
    return axes;
  };
  if (first != group.ops.end())
    group.isReduced = reducedBy(*first);
  for (linalg::GenericOp op : group.ops) {
    if (reduces(op)) {
      if (group.ops.size() > 1 && !isTreeReduction(op) && !mayShareKernel(op, group, reason))
        return std::nullopt;
      if (!group.coversAllAxes(op) || reducedBy(op) != group.isReduced) {
        reason = "it reduces other dimensions";
        return std::nullopt;
      }
    }
    const bool isStored = llvm::any_of(op->getResults(), [&](Value value) { return isReadOutside(value, group); });
    if (isStored && !group.coversAllAxes(op) && !group.isPerRow(op)) {
      reason = "its result has other dimensions";
      return std::nullopt;
    }
    // Nobody computes a reduction again for each element that reads it.
    if (!reduces(op) && !group.isPerRow(op) && !group.coversAllAxes(op) && group.knowsReduction(op->getResult(0))) {
      reason = "it runs over a part of the reduced dimensions";
      return std::nullopt;
    }
  }
  if (readsAnywhere(group, reason) || (readsGates(group) && !mayReadGates(group, reason)))
    return std::nullopt;
  return std::move(group);
}

} // namespace tenon::compiler::dispatch
