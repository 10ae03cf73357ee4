// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/unit_dimensions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// How a tensor is read without its unit dimensions.
struct Dropped {
  SmallVector<ReassociationIndices> groups; // of its dimensions
  AffineMap map;
};

std::optional<Dropped> withoutUnits(Value tensor, AffineMap map) {
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
  Dropped dropped;
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

SmallVector<linalg::GenericOp> operationsOf(func::FuncOp function) {
  SmallVector<linalg::GenericOp> operations;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics())
      operations.push_back(op);
  });
  return operations;
}

void dropOfResults(linalg::GenericOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> starts = llvm::to_vector(op.getDpsInits());
  SmallVector<std::optional<Dropped>> dropped;
  for (unsigned number = 0; number < starts.size(); ++number) {
    AffineMap &map = maps[op.getNumDpsInputs() + number];
    std::optional<Dropped> &each = dropped.emplace_back(withoutUnits(starts[number], map));
    if (!each)
      continue;
    map = each->map;
    auto withoutUnitsOf = [&](Value tensor) {
      return tensor::CollapseShapeOp::create(b, loc, tensor, each->groups).getResult();
    };
    // A start stays a fill, which whoever reduces wants to see.
    if (auto fill = starts[number].getDefiningOp<linalg::FillOp>())
      starts[number] =
          linalg::FillOp::create(b, loc, fill.getInputs(), ValueRange(withoutUnitsOf(fill.getOutputs()[0])))
              .getResult(0);
    else
      starts[number] = withoutUnitsOf(starts[number]);
  }
  if (llvm::none_of(dropped, [](const std::optional<Dropped> &each) { return each.has_value(); }))
    return;
  auto after = linalg::GenericOp::create(b, loc, ValueRange(starts).getTypes(), op.getDpsInputs(), starts, maps,
                                         op.getIteratorTypesArray());
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
}

} // namespace

void dropUnitDimensionsOfInputs(func::FuncOp function) {
  for (linalg::GenericOp op : operationsOf(function)) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    OpBuilder b(op);
    for (OpOperand *operand : op.getDpsInputOperands())
      if (std::optional<Dropped> dropped = withoutUnits(operand->get(), maps[operand->getOperandNumber()])) {
        operand->set(tensor::CollapseShapeOp::create(b, op.getLoc(), operand->get(), dropped->groups));
        maps[operand->getOperandNumber()] = dropped->map;
      }
    op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
}

void dropUnitDimensionsOfResults(func::FuncOp function) {
  for (linalg::GenericOp op : operationsOf(function))
    dropOfResults(op);
}

} // namespace tenon::compiler::dispatch
