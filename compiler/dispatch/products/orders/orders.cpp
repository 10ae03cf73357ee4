// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/orders.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

void addLoops(Value index, linalg::GenericOp op, llvm::SmallBitVector &set) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> work = {index};
  while (!work.empty()) {
    Operation *inner = work.pop_back_val().getDefiningOp();
    if (!inner || inner->getBlock() != op.getBody() || !seen.insert(inner).second)
      continue;
    if (auto loop = dyn_cast<linalg::IndexOp>(inner))
      set.set(loop.getDim());
    llvm::append_range(work, inner->getOperands());
  }
}

/// The order of the tensor with groups of dimensions where the one without them has `order`: those of a group stay side
/// by side.
Order orderOfLonger(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> order) {
  Order longer;
  for (int64_t dimension : order)
    llvm::append_range(longer, groups[dimension]);
  return longer;
}

/// The other way round; nothing where a group's dimensions would not lie one behind the other.
std::optional<Order> orderOfShorter(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> order) {
  Order shorter;
  for (size_t at = 0; at < order.size(); at += groups[shorter.back()].size()) {
    const auto *group = llvm::find_if(
        groups, [&](const ReassociationIndices &each) { return !each.empty() && each.front() == order[at]; });
    if (group == groups.end() || order.slice(at).take_front(group->size()) != ArrayRef<int64_t>(*group))
      return std::nullopt;
    shorter.push_back(group - groups.begin());
  }
  return shorter.size() == groups.size() ? std::optional(shorter) : std::nullopt;
}

} // namespace

LoopSets loopsOf(AffineMap map, linalg::GenericOp op) {
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  LoopSets sets;
  for (AffineExpr expr : map.getResults()) {
    llvm::SmallBitVector &set = sets.emplace_back(op.getNumLoops());
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (types[loop] == utils::IteratorType::parallel && expr.isFunctionOfDim(loop))
        set.set(loop);
  }
  return sets;
}

LoopSets loopsOf(tensor::ExtractOp read, linalg::GenericOp op) {
  LoopSets sets;
  for (Value index : read.getIndices())
    addLoops(index, op, sets.emplace_back(op.getNumLoops()));
  return sets;
}

std::optional<Order> orderBeside(ArrayRef<int64_t> order, const LoopSets &from, const LoopSets &to) {
  if (from.size() != to.size())
    return std::nullopt;
  SmallVector<int64_t> partners(from.size(), -1);
  llvm::SmallBitVector taken(from.size());
  std::optional<size_t> alone;
  for (size_t i = 0; i < from.size(); ++i) {
    for (size_t j = 0; j < to.size(); ++j) {
      if (!from[i].anyCommon(to[j]))
        continue;
      if (partners[i] != -1 || taken.test(j))
        return std::nullopt;
      partners[i] = int64_t(j);
      taken.set(j);
    }
    if (partners[i] == -1) {
      if (alone)
        return std::nullopt;
      alone = i;
    }
  }
  if (alone) {
    const int other = taken.flip().find_first();
    if (from[*alone].any() && to[other].any())
      return std::nullopt;
    partners[*alone] = other;
  }
  return llvm::to_vector(llvm::map_range(order, [&](int64_t dimension) { return partners[dimension]; }));
}

SmallVector<ReassociationIndices> partsOf(Operation *reshape) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return expand.getReassociationIndices();
  return cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices();
}

bool isReshape(Operation *op) {
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

std::optional<Order> orderThrough(Operation *reshape, ArrayRef<int64_t> order, bool isOfSource) {
  const SmallVector<ReassociationIndices> groups = partsOf(reshape);
  return isa<tensor::ExpandShapeOp>(reshape) == isOfSource ? std::optional(orderOfLonger(groups, order))
                                                           : orderOfShorter(groups, order);
}

} // namespace tenon::compiler::dispatch
