// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/recompute.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/forming/form_groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Instructions of an element, by estimate: in the time of 4 bytes a multiprocessor has some 25, and the kernel has more
// to do than this. One exponential is not too much, an exact softmax is (an H200, 16433 x 4366 f32, and a norm of it:
// 735 us, computed again 885).
constexpr unsigned kMostWork = 16;
constexpr unsigned kWorkOfMath = 12;
// What is computed again may end where another boundary is.
constexpr unsigned kMostRounds = 3;

unsigned workOf(linalg::GenericOp op) {
  unsigned work = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    const bool isCostly =
        (isa<math::MathDialect>(inner.getDialect()) && !isa<math::AbsFOp, math::AbsIOp>(inner)) ||
        isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(inner);
    work += inner.getNumRegions() != 0 ? kMostWork : isCostly ? kWorkOfMath : 1;
  }
  return work;
}

std::optional<unsigned> lastLoopOf(AffineMap map) {
  return map.getNumResults() == 0 ? std::nullopt : loopOf(map.getResults().back());
}

/// Whether it computes each element from one of a tensor, of no more bytes, that lies in the same order.
bool isOfOneTensor(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || op->getNumResults() != 1 ||
      op->hasAttr(kStoredAttr) || op->hasAttr(kFormAttr) || isOfAttention(op) || workOf(op) > kMostWork ||
      !op.getBody()->getOps<tensor::ExtractOp>().empty())
    return false;
  const AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!written.isPermutation() || written.getNumResults() == 0 ||
      !op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty())
    return false;
  uint32_t bytes = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    const AffineMap map = op.getMatchingIndexingMap(input);
    if (!type || map.getNumResults() < written.getNumResults())
      continue; // a number, or a vector of which many elements read each
    if (!map.isPermutation() || lastLoopOf(map) != lastLoopOf(written))
      return false;
    bytes += elementBytes(type.getElementType());
  }
  return bytes != 0 && bytes <= elementBytes(cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
}

/// Whether the elements of a reduction's operands are each read once, and in any order.
bool isPlainReader(linalg::GenericOp op) {
  return !isOfAttention(op) && !op->hasAttr(kFormAttr) &&
         (op.getNumReductionLoops() == 0 || (isTreeReduction(op) && !contractionOf(op)));
}

bool shouldRecompute(linalg::GenericOp producer, linalg::GenericOp reader, const Group &group) {
  if (group.hasWeights() || producer->getBlock() != reader->getBlock() || !isOfOneTensor(producer) ||
      !isPlainReader(reader))
    return false;
  for (OpOperand &use : producer->getUses())
    if (use.getOwner() == reader && (!reader.isDpsInput(&use) || !reader.getMatchingIndexingMap(&use).isPermutation()))
      return false;
  // A clone that reads what its group computes would be of that group, and be stored as it was.
  return llvm::none_of(producer->getOperands(), [&](Value operand) {
    return operand.getDefiningOp() && group.contains(operand.getDefiningOp());
  });
}

bool recomputeOnce(Block &block) {
  const GroupedBlock grouped = formGroups(block);
  llvm::DenseMap<Operation *, const Group *> groupOfOp;
  for (const Group &group : grouped.groups)
    for (linalg::GenericOp op : group.ops)
      groupOfOp[op] = &group;
  bool changed = false;
  llvm::SmallSetVector<Operation *, 4> unread;
  for (const Boundary &boundary : grouped.boundaries) {
    auto producer = dyn_cast<linalg::GenericOp>(boundary.producer),
         reader = dyn_cast<linalg::GenericOp>(boundary.consumer);
    if (!producer || !reader || producer == reader || !llvm::is_contained(producer->getUsers(), reader) ||
        !shouldRecompute(producer, reader, *groupOfOp.lookup(producer)))
      continue;
    OpBuilder b(reader);
    Operation *again = b.clone(*producer);
    producer->getResult(0).replaceUsesWithIf(again->getResult(0),
                                             [&](OpOperand &use) { return use.getOwner() == reader; });
    changed = true;
  }
  for (const Boundary &boundary : grouped.boundaries)
    if (boundary.producer->getBlock() == &block && boundary.producer->use_empty())
      unread.insert(boundary.producer);
  for (Operation *op : unread)
    op->erase();
  return changed;
}

} // namespace

void recomputeAtBoundaries(Block &block) {
  auto mayBe = [](linalg::GenericOp op) { return !op->use_empty() && !op->hasOneUse() && isOfOneTensor(op); };
  if (llvm::none_of(block.getOps<linalg::GenericOp>(), mayBe))
    return;
  for (unsigned round = 0; round < kMostRounds && recomputeOnce(block); ++round)
    ;
}

} // namespace tenon::compiler::dispatch
