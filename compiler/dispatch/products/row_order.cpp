// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/row_order.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/products/orders/reorder.h"
#include "compiler/dispatch/products/orders/turned_result.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Tensors, each in the order that it is to lie in.
using Turns = llvm::MapVector<Value, Order>;

/// Adds what becomes of a tensor, and of its reshapes, in that order; false where somebody reads it who needs its
/// dimensions as they are.
bool addTurns(Value tensor, const Order &order, Turns &turns) {
  if (order.empty() || order.back() != int64_t(order.size()) - 1)
    return false; // neighbours stay neighbours
  turns[tensor] = order;
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isReshape(user)) {
      const std::optional<Order> through = orderThrough(user, order, /*isOfSource=*/true);
      return through && addTurns(user->getResult(0), *through, turns);
    }
    if (isa<tensor::ExtractOp>(user))
      return isa_and_nonnull<linalg::GenericOp>(user->getParentOp());
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic && generic.hasPureTensorSemantics() && generic.isDpsInput(&use);
  });
}

/// Whether a result is written to something that has no elements yet.
bool isWrittenAnew(linalg::GenericOp op) {
  Value start = op.getDpsInits()[0];
  if (auto fill = start.getDefiningOp<linalg::FillOp>())
    start = fill.getOutputs()[0];
  while (isReshape(start.getDefiningOp()))
    start = start.getDefiningOp()->getOperand(0);
  return op->getNumResults() == 1 && start.getDefiningOp<tensor::EmptyOp>();
}

void turn(const Turns &turns) {
  for (const auto &[tensor, order] : turns) {
    if (llvm::is_sorted(order))
      continue;
    Operation *made = tensor.getDefiningOp();
    if (isReshape(made)) {
      const bool expands = isa<tensor::ExpandShapeOp>(made);
      turnReshape(made, order, expands ? turns.lookup(made->getOperand(0)) : order);
    } else {
      turnResultOf(cast<OpResult>(tensor), order);
    }
    for (OpOperand &use : tensor.getUses()) {
      if (auto read = dyn_cast<tensor::ExtractOp>(use.getOwner())) {
        const SmallVector<Value> indices(read.getIndices());
        read.getIndicesMutable().assign(inOrder(ArrayRef(indices), order));
      } else if (isa<linalg::GenericOp>(use.getOwner())) {
        turnRead(use, order);
      }
    }
  }
}

/// What is computed of each element of a sum, or of what is computed of it, and read by nobody else: the last of it.
/// @param loopOf [dimensions of the result so far] loops of the sum, which become those of what is returned
OpResult lastBehind(linalg::GenericOp sum, SmallVector<unsigned> &loopOf, SmallVector<OpResult> &between) {
  auto last = cast<OpResult>(sum->getResult(0));
  while (last.hasOneUse()) {
    OpOperand &use = *last.use_begin();
    auto next = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!next || next->getBlock() != sum->getBlock() || !next.hasPureTensorSemantics() || !next.isDpsInput(&use) ||
        next.getNumReductionLoops() != 0 || !isWrittenAnew(next) || next.hasIndexSemantics() || isOfAttention(next))
      break;
    const AffineMap read = next.getMatchingIndexingMap(&use), written = next.getIndexingMapsArray().back();
    if (!read.isPermutation() || !written.isPermutation())
      break;
    between.push_back(last);
    SmallVector<unsigned> behind;
    for (AffineExpr expr : written.getResults())
      behind.push_back(loopOf[*read.getResultPosition(expr)]);
    loopOf = behind;
    last = cast<OpResult>(next->getResult(0));
  }
  return last;
}

/// Where each loop stands in `loopOf`.
Order orderFor(ArrayRef<unsigned> loops, ArrayRef<unsigned> loopOf) {
  Order order;
  for (unsigned loop : loops)
    order.push_back(llvm::find(loopOf, loop) - loopOf.begin());
  return order;
}

/// What an attention computes, rounded, where one operation reads it.
bool isOfAttentionAlone(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  return op && tensor.hasOneUse() && op.getNumReductionLoops() == 0 && isWrittenAnew(op) && !op.hasIndexSemantics() &&
         llvm::any_of(op.getDpsInputs(), [](Value input) {
           auto sum = input.getDefiningOp<linalg::GenericOp>();
           return sum && isOfAttention(sum) && sum.getNumReductionLoops() != 0;
         });
}

/// Whether whoever reads rows of the tensor in any order reads whole sectors of memory.
bool hasLongRows(Value tensor) {
  constexpr int64_t kSectorBytes = 32;
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getRank() != 0 && !type.isDynamicDim(type.getRank() - 1) &&
         type.getShape().back() * int64_t(elementBytes(type.getElementType())) % kSectorBytes == 0;
}

bool followEachOther(ArrayRef<int64_t> numbers) {
  for (auto [number, next] : llvm::zip(numbers, numbers.drop_front()))
    if (next != number + 1)
      return false;
  return true;
}

class RowOrder {
public:
  explicit RowOrder(linalg::GenericOp op) : op_(op) {}

  void bring() {
    if (!readRows())
      return;
    SmallVector<unsigned> loopOf = ofResult_;
    SmallVector<OpResult> between;
    const OpResult last = lastBehind(op_, loopOf, between);
    SmallVector<unsigned> wanted; // rows as the result has them
    llvm::copy_if(loopOf, std::back_inserter(wanted), [&](unsigned loop) { return llvm::is_contained(stored_, loop); });

    Turns turns;
    SmallVector<unsigned> loops = areNeighbours_ ? stored_ : wanted;
    if (areNeighbours_ ? stored_ == wanted : !turnLeft(wanted, turns))
      return;
    llvm::append_range(loops, product_->columns);
    // Everything behind the sum lies in the order of the loops.
    if (areNeighbours_ && (!hasLongRows(last) || !addTurns(last, orderFor(loops, loopOf), turns)))
      return;
    turn(turns);
    reorderSums(loops, ofResult_, between);
  }

private:
  /// The rows of a product of matrices, as its left side stores them; false where it is none, or has one dimension.
  bool readRows() {
    if (!op_.hasPureTensorSemantics() || op_.hasIndexSemantics() || isOfAttention(op_) || !isWrittenAnew(op_))
      return false;
    product_ = contractionOf(op_);
    if (!product_ || product_->isRouted() || !product_->batch.empty() || product_->rows.size() < 2 ||
        product_->left.border || product_->left.inputs.size() != 1 || !product_->places.empty())
      return false;
    left_ = op_.getDpsInputOperand(product_->left.inputs.front());
    const AffineMap read = op_.getMatchingIndexingMap(left_);
    if (!read.isProjectedPermutation())
      return false;
    SmallVector<int64_t> places;
    for (auto [dimension, expr] : llvm::enumerate(read.getResults()))
      if (const unsigned loop = cast<AffineDimExpr>(expr).getPosition(); llvm::is_contained(product_->rows, loop)) {
        stored_.push_back(loop);
        places.push_back(int64_t(dimension));
      }
    areNeighbours_ = followEachOther(places);
    for (AffineExpr expr : op_.getIndexingMapsArray().back().getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        return false;
      ofResult_.push_back(loop.getPosition());
    }
    return stored_.size() == product_->rows.size() && ofResult_.size() == op_.getNumParallelLoops();
  }

  /// Rows of the left side that are no neighbours: an attention may store them as the result has them. Of boxes of rows
  /// that end where a dimension does it is as well read as it is.
  bool turnLeft(ArrayRef<unsigned> rows, Turns &turns) {
    constexpr int64_t kRowsOfBox = 64;
    const std::optional<int64_t> inner = knownSizeOf(op_, stored_.back());
    if ((inner && *inner % kRowsOfBox == 0) || !hasLongRows(left_->get()) || !isOfAttentionAlone(left_->get()))
      return false;
    const AffineMap read = op_.getMatchingIndexingMap(left_);
    Order order;
    for (unsigned loop : rows)
      order.push_back(int64_t(*read.getResultPosition(getAffineDimExpr(loop, op_.getContext()))));
    for (int64_t dimension = 0; dimension < int64_t(read.getNumResults()); ++dimension)
      if (!llvm::is_contained(order, dimension))
        order.push_back(dimension);
    return addTurns(left_->get(), order, turns);
  }

  /// The sum's loops, and all that is computed of it up to the last result, in the order of `loops`.
  void reorderSums(ArrayRef<unsigned> loops, SmallVector<unsigned> loopOf, ArrayRef<OpResult> between) {
    SmallVector<linalg::GenericOp> touched = {op_};
    for (OpResult tensor : between) {
      OpOperand &use = *tensor.use_begin();
      auto next = cast<linalg::GenericOp>(use.getOwner());
      const AffineMap read = next.getMatchingIndexingMap(&use), written = next.getIndexingMapsArray().back();
      const Order order = orderFor(loops, loopOf);
      turnResultOf(tensor, order);
      turnRead(use, order);
      SmallVector<unsigned> loopOfNext(read.getNumDims());
      for (auto [dimension, expr] : llvm::enumerate(read.getResults()))
        loopOfNext[cast<AffineDimExpr>(expr).getPosition()] = loopOf[dimension];
      loopOf.clear();
      for (AffineExpr expr : written.getResults())
        loopOf.push_back(loopOfNext[cast<AffineDimExpr>(expr).getPosition()]);
      touched.push_back(next);
    }
    for (linalg::GenericOp op : touched)
      orderLoops(op);
  }

  linalg::GenericOp op_;
  std::optional<Contraction> product_;
  OpOperand *left_ = nullptr;
  SmallVector<unsigned> stored_;   // loops of the rows, in the left side's order
  SmallVector<unsigned> ofResult_; // loops of the sum's dimensions
  bool areNeighbours_ = false;     // the rows, in the left side
};

} // namespace

void orderRows(func::FuncOp function) {
  for (auto op : llvm::to_vector(function.getOps<linalg::GenericOp>()))
    RowOrder(op).bring();
}

} // namespace tenon::compiler::dispatch
