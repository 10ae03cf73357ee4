// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/returned_reshapes.h"

#include "compiler/dispatch/analysis/groups/group.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

bool isReshape(Operation *op) {
  return isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

/// What the result becomes behind reshapes, where one elementwise operation alone reads it, each element once; null
/// elsewhere, and where nothing is reshaped.
Value reshapedResult(linalg::GenericOp op) {
  Value value = op->getResult(0);
  while (value.hasOneUse() && isReshape(*value.user_begin()))
    value = (*value.user_begin())->getResult(0);
  if (value == op->getResult(0) || !value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  const bool isRead = reader && reader->getBlock() == op->getBlock() && reader.hasPureTensorSemantics() &&
                      reader.isDpsInput(&use) && reader.getNumReductionLoops() == 0 && !isOfAttention(reader) &&
                      reader.getMatchingIndexingMap(&use).isPermutation();
  return isRead ? value : Value();
}

/// The tensor of that shape that reshapes have made `value` from; null where there is none.
Value sourceOf(Value value, ArrayRef<int64_t> shape) {
  while (isReshape(value.getDefiningOp())) {
    value = value.getDefiningOp()->getOperand(0);
    if (shapeOf(value) == shape)
      return value;
  }
  return {};
}

/// Where an element of a tensor of one shape is along a dimension of the other: a dimension, or the first part of one.
/// Nothing where it is anything else.
std::optional<AffineExpr> placeAlong(unsigned dimension, ArrayRef<int64_t> of, ArrayRef<int64_t> in,
                                     MLIRContext *context) {
  auto behind = [](ArrayRef<int64_t> shape, unsigned each) {
    int64_t product = 1;
    for (int64_t size : shape.drop_front(each + 1))
      product *= size;
    return product;
  };
  if (of[dimension] == 1)
    return getAffineConstantExpr(0, context);
  const int64_t step = behind(of, dimension);
  for (unsigned each = 0; each < in.size(); ++each) {
    const int64_t inner = behind(in, each);
    if (in[each] * inner == of[dimension] * step && step % inner == 0)
      return step == inner ? getAffineDimExpr(each, context) : getAffineDimExpr(each, context).floorDiv(step / inner);
  }
  return std::nullopt;
}

/// Whether the body computes with the elements of its operands, and nothing else.
bool isPlain(linalg::GenericOp op) {
  return llvm::none_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<linalg::IndexOp>(inner) || inner.getNumRegions() != 0 ||
           llvm::any_of(inner.getOperandTypes(), [](Type type) { return isa<ShapedType>(type); });
  });
}

/// The operation in the dimensions that its result has behind reshapes; null where it stays as it is.
linalg::GenericOp unreshaped(linalg::GenericOp op, Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  OpBuilder b(op);
  const AffineMap whole = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  bool isBack = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    const AffineMap map = op.getMatchingIndexingMap(input);
    inputs.push_back(input->get());
    if (map.isIdentity()) {
      inputs.back() = sourceOf(input->get(), type.getShape());
      if (!inputs.back())
        return {};
      maps.push_back(whole);
      isBack = true;
      continue;
    }
    SmallVector<AffineExpr> places;
    for (AffineExpr expr : map.getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      const std::optional<AffineExpr> place =
          loop ? placeAlong(loop.getPosition(), shapeOf(op->getResult(0)), type.getShape(), b.getContext())
               : std::optional<AffineExpr>();
      if (!place)
        return {};
      places.push_back(*place);
    }
    maps.push_back(AffineMap::get(type.getRank(), 0, places, b.getContext()));
  }
  if (!isBack)
    return {};
  maps.push_back(whole);
  Value empty = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> types(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, op.getLoc(), type, inputs, empty, maps, types,
                                   [&](OpBuilder &inner, Location, ValueRange arguments) {
                                     IRMapping values;
                                     values.map(op.getBody()->getArguments(), arguments);
                                     for (Operation &each : *op.getBody())
                                       inner.clone(each, values);
                                   });
}

} // namespace

bool computeUnreshaped(func::FuncOp function) {
  bool changed = false;
  for (Block &block : function.getBody())
    for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>())) {
      if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
          isOfAttention(op) || !op.getIndexingMapsArray().back().isIdentity() || !isPlain(op))
        continue;
      Value result = reshapedResult(op);
      if (!result || !cast<RankedTensorType>(result.getType()).hasStaticShape())
        continue;
      linalg::GenericOp here = unreshaped(op, result);
      if (!here)
        continue;
      result.replaceAllUsesWith(here->getResult(0));
      changed = true;
    }
  return changed;
}

} // namespace tenon::compiler::dispatch
