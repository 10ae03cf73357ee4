// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/summed_order.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/splits/filter_splits.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The axis along which an operation's result lies; nothing where that is no loop of more than one step.
std::optional<unsigned> axisAlong(const Group &group, linalg::GenericOp op, OpResult result) {
  const AffineMap map = op.getIndexingMapMatchingResult(result);
  auto last = map.getNumResults() != 0 ? dyn_cast<AffineDimExpr>(map.getResults().back()) : AffineDimExpr(nullptr);
  if (!last || op.getStaticLoopRanges()[last.getPosition()] == 1)
    return std::nullopt;
  return group.axisOf.lookup(op)[last.getPosition()];
}

/// A product of tf32 on Hopper alone, of images that have their channels last, whose places are no rows at vectors:
/// they are rows of the product, all images' behind each other (products/images/channels_last.h).
bool isOfUnalignedPlaces(linalg::GenericOp op, const Contraction &product) {
  constexpr int64_t kVector = 4;
  if (!hasHopperTf32(op) || isForTensorCores(product) || !mayRoundForTensorCores(product) || readsWindows(op))
    return false;
  for (const ContractionSide *side : {&product.left, &product.right}) {
    const std::optional<int64_t> places =
        knownSizeOf(op, side == &product.left ? ArrayRef(product.rows).drop_front(product.rows.empty() ? 0 : 1)
                                              : ArrayRef(product.columns).drop_front(product.columns.empty() ? 0 : 1));
    if (places && *places % kVector != 0 && *places != 1)
      return true;
  }
  return false;
}

} // namespace

bool storesAsSummed(const Group &group, std::string &reason) {
  std::optional<unsigned> along;
  for (linalg::GenericOp op : group.ops)
    if (const std::optional<Contraction> product = contractionOf(op);
        product && (isOfFilters(op, *product) || isOfUnalignedPlaces(op, *product)))
      along = axisAlong(group, op, op->getResult(0));
  if (!along)
    return true;
  for (linalg::GenericOp op : group.ops)
    for (OpResult result : op->getResults())
      if (const std::optional<unsigned> other = axisAlong(group, op, result); other && other != along) {
        reason = "it is stored as it is summed, and turned behind";
        return false;
      }
  return true;
}

} // namespace tenon::compiler::dispatch
