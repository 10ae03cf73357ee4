// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/changed_loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

std::optional<DroppedUnits> withoutUnits(Value tensor, AffineMap map) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return std::nullopt;
  auto isUnit = [&](unsigned dimension) {
    auto constant = dyn_cast<AffineConstantExpr>(map.getResult(dimension));
    return constant && constant.getValue() == 0 && type.getDimSize(dimension) == 1;
  };
  const unsigned rank = type.getRank();
  if (llvm::none_of(llvm::seq(rank), isUnit))
    return std::nullopt;
  DroppedUnits dropped;
  SmallVector<AffineExpr> indices;
  ReassociationIndices leading; // in front of the first dimension that stays
  for (unsigned dimension = 0; dimension < rank; ++dimension) {
    if (isUnit(dimension)) {
      (dropped.groups.empty() ? leading : dropped.groups.back()).push_back(dimension);
      continue;
    }
    dropped.groups.push_back(std::exchange(leading, {}));
    dropped.groups.back().push_back(dimension);
    indices.push_back(map.getResult(dimension));
  }
  dropped.map = AffineMap::get(map.getNumDims(), 0, indices, map.getContext());
  return dropped;
}

linalg::GenericOp rebuild(linalg::GenericOp op, ChangedLoops loops) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> starts = llvm::to_vector(op.getDpsInits());
  SmallVector<std::optional<DroppedUnits>> dropped;
  for (unsigned number = 0; number < starts.size(); ++number) {
    AffineMap &map = loops.maps[op.getNumDpsInputs() + number];
    std::optional<DroppedUnits> &each = dropped.emplace_back(withoutUnits(starts[number], map));
    if (!each)
      continue;
    map = each->map;
    auto withoutUnitsOf = [&](Value tensor) -> Value {
      auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
      if (!empty)
        return tensor::CollapseShapeOp::create(b, loc, tensor, each->groups);
      auto type = tensor::CollapseShapeOp::inferCollapsedType(empty.getType(), each->groups);
      return tensor::EmptyOp::create(b, loc, cast<RankedTensorType>(type), empty.getDynamicSizes());
    };
    // A start stays a fill, which whoever reduces wants to see.
    if (auto fill = starts[number].getDefiningOp<linalg::FillOp>())
      starts[number] =
          linalg::FillOp::create(b, loc, fill.getInputs(), ValueRange(withoutUnitsOf(fill.getOutputs()[0])))
              .getResult(0);
    else
      starts[number] = withoutUnitsOf(starts[number]);
  }
  auto after =
      linalg::GenericOp::create(b, loc, ValueRange(starts).getTypes(), loops.inputs, starts, loops.maps, loops.types);
  after->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  after.getRegion().takeBody(op.getRegion());
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    Value made = after->getResult(number);
    if (dropped[number]) {
      // Where no dimension stays there is no group that would measure those that come back.
      SmallVector<OpFoldResult> sizes;
      if (dropped[number]->groups.empty())
        sizes.assign(cast<RankedTensorType>(result.getType()).getRank(), b.getIndexAttr(1));
      for (auto [group, groupDimensions] : llvm::enumerate(dropped[number]->groups))
        for (int64_t dimension : groupDimensions) {
          const int64_t size = cast<RankedTensorType>(result.getType()).getDimSize(dimension);
          sizes.push_back(ShapedType::isDynamic(size) ? tensor::getMixedSize(b, loc, made, group)
                                                      : OpFoldResult(b.getIndexAttr(size)));
        }
      made = tensor::ExpandShapeOp::create(b, loc, result.getType(), made, dropped[number]->groups, sizes);
    }
    result.replaceAllUsesWith(made);
  }
  op->erase();
  return after;
}

void dropLoops(linalg::GenericOp op, ChangedLoops &loops, const llvm::SmallBitVector &dropped) {
  OpBuilder b(op);
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> renumbered;
  SmallVector<utils::IteratorType> types;
  SmallVector<unsigned> numbers(op.getNumLoops());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    numbers[loop] = types.size();
    renumbered.push_back(dropped.test(loop) ? getAffineConstantExpr(0, context)
                                            : getAffineDimExpr(types.size(), context));
    if (!dropped.test(loop))
      types.push_back(loops.types[loop]);
  }
  loops.types = types;
  for (AffineMap &map : loops.maps)
    map = map.replaceDimsAndSymbols(renumbered, {}, types.size(), 0);
  for (auto [input, map] : llvm::zip(loops.inputs, loops.maps))
    if (std::optional<DroppedUnits> without = withoutUnits(input, map)) {
      input = tensor::CollapseShapeOp::create(b, op.getLoc(), input, without->groups);
      map = without->map;
    }
  op.getBody()->walk([&](linalg::IndexOp index) {
    OpBuilder inside(index);
    const unsigned loop = index.getDim();
    if (dropped.test(loop)) {
      index.replaceAllUsesWith(arith::ConstantIndexOp::create(inside, index.getLoc(), 0).getResult());
      index.erase();
    } else {
      index.setDim(numbers[loop]);
    }
  });
}

} // namespace tenon::compiler::dispatch
