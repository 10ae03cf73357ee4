// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/inner_places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

Value InnerPlaces::numberOf(OpBuilder &b, Location loc, Value place) const {
  if (alike() == 1)
    return place;
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value).getResult(); };
  Value behind = arith::MaxSIOp::create(b, loc, place, number(high - 1));
  Value before = arith::MinSIOp::create(b, loc, place, number(low));
  return arith::AddIOp::create(b, loc, before, arith::SubIOp::create(b, loc, behind, number(high - 1)));
}

Value InnerPlaces::placeOf(OpBuilder &b, Location loc, Value number) const {
  if (alike() == 1)
    return number;
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value).getResult(); };
  Value isBehind = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, number, constant(low));
  Value skipped = arith::SelectOp::create(b, loc, isBehind, constant(alike() - 1), constant(0));
  return arith::AddIOp::create(b, loc, number, skipped);
}

InnerPlaces innerPlacesOf(unsigned loop, const Border &border, AffineMap places, ArrayRef<int64_t> sizes,
                          ArrayRef<utils::IteratorType> types) {
  auto isReduced = [&](unsigned of) { return types[of] == utils::IteratorType::reduction; };
  std::optional<InnerPlaces> found;
  for (auto [dimension, expr] : llvm::enumerate(places.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    const std::optional<LinearExpr> place = LinearExpr::of(expr, sizes.size());
    if (found || isReduced(loop) || ShapedType::isDynamic(sizes[loop]) || !border.mayLeave[dimension] || !place ||
        place->factors[loop] <= 0)
      return {};
    int64_t reach = place->offset; // of the last element of the first window
    for (auto [other, factor] : llvm::enumerate(place->factors)) {
      if (other == loop || factor == 0)
        continue;
      if (factor < 0 || !isReduced(other))
        return {};
      reach += factor * (sizes[other] - 1);
    }
    const int64_t step = place->factors[loop],
                  size = cast<RankedTensorType>(border.image.getType()).getDimSize(dimension);
    found = {std::max<int64_t>(0, llvm::divideCeilSigned(-place->offset, step)),
             std::min(sizes[loop], llvm::divideFloorSigned(size - 1 - reach, step) + 1)};
  }
  return found && found->alike() > 1 ? *found : InnerPlaces();
}

} // namespace tenon::compiler::dispatch
