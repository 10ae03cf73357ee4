// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/repeated_sums.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/slices.h"
#include "compiler/dispatch/prepare/loops/changed_loops.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Parallel loops that nothing is read along: no input, no index, and starts that are all one number. There are none
/// where a result has other dimensions than loops.
llvm::SmallBitVector unreadLoops(linalg::GenericOp op) {
  llvm::SmallBitVector unread(op.getNumLoops());
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    unread[unsigned(loop)] = type == utils::IteratorType::parallel;
  for (OpOperand *input : op.getDpsInputOperands())
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (op.getMatchingIndexingMap(input).isFunctionOfDim(loop))
        unread.reset(loop);
  op.getBody()->walk([&](linalg::IndexOp index) { unread.reset(unsigned(index.getDim())); });
  for (OpOperand &start : op.getDpsInitsMutable())
    if (!start.get().getDefiningOp<linalg::FillOp>() || !op.getMatchingIndexingMap(&start).isProjectedPermutation())
      unread.reset();
  return unread;
}

/// Reads what copies copy, where that says which element is read as well: a dimension of one that a copy has added is
/// none of the loops that something is read along.
void readThroughCopies(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto copy = input->get().getDefiningOp<linalg::GenericOp>();
    if (!copy || !copy.hasPureTensorSemantics() || !isCopy(copy) || !copy.getIndexingMapsArray().back().isIdentity())
      continue;
    AffineMap &map = maps[input->getOperandNumber()];
    const AffineMap through = copy.getIndexingMapsArray().front().compose(map);
    bool saysAll = through.isProjectedPermutation(); // how many elements are reduced
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      saysAll &= op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel || !map.isFunctionOfDim(loop) ||
                 through.isFunctionOfDim(loop);
    if (!saysAll)
      continue;
    map = through;
    input->set(copy.getDpsInputs()[0]);
  }
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

/// Dimensions of a tensor that `map` reads along loops that stay.
SmallVector<unsigned> keptDimensions(AffineMap map, const llvm::SmallBitVector &dropped) {
  SmallVector<unsigned> kept;
  for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension)
    if (!dropped.test(map.getDimPosition(dimension)))
      kept.push_back(dimension);
  return kept;
}

void reduceWithout(linalg::GenericOp op, const llvm::SmallBitVector &dropped) {
  OpBuilder b(op);
  const Location loc = op.getLoc();
  ChangedLoops loops(op);
  SmallVector<Value> starts;
  SmallVector<SmallVector<unsigned>> kept;
  for (OpOperand &start : op.getDpsInitsMutable()) {
    AffineMap &map = loops.maps[start.getOperandNumber()];
    kept.push_back(keptDimensions(map, dropped));
    auto fill = start.get().getDefiningOp<linalg::FillOp>();
    SmallVector<OpFoldResult> sizes;
    for (unsigned dimension : kept.back())
      sizes.push_back(tensor::getMixedSize(b, loc, start.get(), dimension));
    Value empty = tensor::EmptyOp::create(b, loc, sizes, getElementTypeOrSelf(start.get()));
    starts.push_back(linalg::FillOp::create(b, loc, fill.getInputs(), ValueRange(empty)).getResult(0));
    map = map.getSubMap(kept.back());
  }
  dropLoops(op, loops, dropped);
  auto once =
      linalg::GenericOp::create(b, loc, ValueRange(starts).getTypes(), loops.inputs, starts, loops.maps, loops.types);
  once->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  once.getRegion().takeBody(op.getRegion());
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    const Value start = op.getDpsInits()[number];
    const unsigned rank = unsigned(cast<RankedTensorType>(start.getType()).getRank());
    SmallVector<AffineExpr> read;
    for (unsigned dimension : kept[number])
      read.push_back(b.getAffineDimExpr(dimension));
    Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, start), getElementTypeOrSelf(start));
    auto each = linalg::GenericOp::create(
        b, loc, empty.getType(), once->getResult(unsigned(number)), empty,
        ArrayRef<AffineMap>{AffineMap::get(rank, 0, read, b.getContext()), b.getMultiDimIdentityMap(rank)},
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [](OpBuilder &inside, Location place, ValueRange elements) {
          linalg::YieldOp::create(inside, place, elements[0]);
        });
    result.replaceAllUsesWith(each.getResult(0));
  }
  op->erase();
}

} // namespace

/// Whether a sum of rows is a window for nothing but a loop of one number along which it reads nothing.
static bool isWindowOfRows(linalg::GenericOp op) {
  return isWindow(op) && !readsWindows(op);
}

bool reduceOnce(func::FuncOp function) {
  SmallVector<std::pair<linalg::GenericOp, llvm::SmallBitVector>> found;
  function.walk([&](linalg::GenericOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
      return;
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const llvm::SmallBitVector unread = unreadLoops(op);
    const bool isRepeated = llvm::any_of(unread.set_bits(), [&](unsigned loop) { return sizes[loop] != 1; });
    if (!isRepeated && (unread.none() || !isWindowOfRows(op)))
      return;
    readThroughCopies(op);
    found.emplace_back(op, unreadLoops(op));
  });
  for (auto &[op, unread] : found)
    reduceWithout(op, unread);
  return !found.empty();
}

} // namespace tenon::compiler::dispatch
