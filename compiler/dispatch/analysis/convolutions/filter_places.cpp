// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/filter_places.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

std::optional<FilterPlace> FilterPlace::of(const Contraction &product, AffineExpr index, unsigned dimensions) {
  const std::optional<LinearExpr> linear = LinearExpr::of(index, dimensions);
  if (!linear)
    return std::nullopt;
  linalg::GenericOp op = product.op;
  FilterPlace place;
  place.offset = linear->offset;
  for (auto [number, factor] : llvm::enumerate(linear->factors)) {
    const auto loop = unsigned(number);
    if (factor == 0)
      continue;
    if (factor < 0)
      return std::nullopt;
    if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction) {
      if (place.loop)
        return std::nullopt;
      place.loop = loop;
      place.step = factor;
    } else if (llvm::is_contained(product.batch, loop)) {
      place.parts.push_back({loop, factor});
    } else {
      if (place.window)
        return std::nullopt;
      place.window = loop;
      place.apart = factor;
    }
  }
  return place;
}

std::optional<FilterRead> FilterRead::of(const ContractionSide &side, linalg::GenericOp op) {
  if (side.border)
    return FilterRead{side.border->image, side.border->map};
  auto argument = dyn_cast<BlockArgument>(beforeExtension(side.value));
  if (!argument || argument.getOwner() != op.getBody() || int64_t(argument.getArgNumber()) >= op.getNumDpsInputs())
    return std::nullopt;
  OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
  return FilterRead{operand->get(), op.getMatchingIndexingMap(operand)};
}

std::optional<FilterSides> FilterSides::of(const Contraction &product, bool mayCountImages) {
  linalg::GenericOp op = product.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (product.combiner != Combiner::AddF || product.batch.empty() || !product.places.empty() ||
      (!mayCountImages && llvm::is_contained(sizes, ShapedType::kDynamic)) || llvm::is_contained(sizes, 0) ||
      factorTypeOf(product.left.value) != factorTypeOf(product.right.value))
    return std::nullopt;
  auto isKnown = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor ||
           !ShapedType::isDynamicShape(tensor.getShape().drop_front(mayCountImages && tensor.getRank() != 0));
  };
  if (!llvm::all_of(op->getOperandTypes(), isKnown))
    return std::nullopt;
  const std::optional<FilterRead> left = FilterRead::of(product.left, op), right = FilterRead::of(product.right, op);
  if (!left || !right)
    return std::nullopt;
  const bool isLeft = !left->map.isProjectedPermutation();
  const FilterSides found{isLeft ? *left : *right, isLeft ? *right : *left, isLeft};
  const ContractionSide &gradient = isLeft ? product.right : product.left;
  const bool slides = !found.image.map.isProjectedPermutation() && isKnown(found.image.tensor.getType());
  return slides && found.gradient.map.isProjectedPermutation() && !gradient.border ? std::optional(found)
                                                                                   : std::nullopt;
}

} // namespace tenon::compiler::dispatch
