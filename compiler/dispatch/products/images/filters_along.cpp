// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/filters_along.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/products/orders/turned_result.h"
#include "compiler/dispatch/products/orders/turned_tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

static constexpr int64_t kVectorBytes = 16;

OpOperand *filtersBesideImage(linalg::GenericOp op) {
  const bool mayBe = op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumDpsInputs() == 2 &&
                     hasHopperTf32(op) && !readsWindows(op) && !isOfAttention(op) &&
                     !llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic);
  if (!mayBe || !linalg::isaContractionOpInterface(op))
    return nullptr;
  // Loops of one, such as a window of one place, are none.
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> reduced;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction && sizes[loop] != 1)
      reduced.push_back(unsigned(loop));
  if (reduced.size() != 1)
    return nullptr;
  AffineExpr summed = getAffineDimExpr(reduced.front(), op.getContext());
  auto isLong = [](int64_t size) { return size != 1; };
  for (OpOperand *filters : op.getDpsInputOperands()) {
    OpOperand *image = op.getDpsInputOperand(1 - filters->getOperandNumber());
    const AffineMap map = op.getMatchingIndexingMap(image), ofFilters = op.getMatchingIndexingMap(filters);
    auto type = dyn_cast<RankedTensorType>(image->get().getType());
    auto typeOfFilters = dyn_cast<RankedTensorType>(filters->get().getType());
    const std::optional<unsigned> channels = map.getResultPosition(summed);
    if (!type || !typeOfFilters || !type.getElementType().isF32() || !typeOfFilters.getElementType().isF32() ||
        !type.hasStaticShape() || type.getRank() < 3 || llvm::count_if(typeOfFilters.getShape(), isLong) != 2 ||
        !channels || *channels + 1 == type.getRank() || !ofFilters.getResultPosition(summed) ||
        typeOfFilters.getNumElements() > type.getNumElements())
      continue;
    int64_t bytes = sizeof(float);
    for (int64_t size : type.getShape().drop_front(*channels + 1))
      bytes *= size;
    if (bytes % kVectorBytes == 0)
      return filters;
  }
  return nullptr;
}

void bringFiltersAlong(linalg::GenericOp op) {
  OpOperand *filters = filtersBesideImage(op);
  if (!filters)
    return;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[filters->getOperandNumber()];
  unsigned summed = 0, last = 0; // dimensions
  for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension) {
    const unsigned loop = map.getDimPosition(dimension);
    if (sizes[loop] == 1)
      continue;
    last = dimension;
    if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction)
      summed = dimension;
  }
  if (summed == last)
    return;
  OpBuilder b(op);
  const SmallVector<int64_t> order = lastOrder(map.getNumResults(), summed);
  map = AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), b.getContext());
  filters->set(turnedTo(b, op.getLoc(), filters->get(), order));
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

} // namespace tenon::compiler::dispatch
