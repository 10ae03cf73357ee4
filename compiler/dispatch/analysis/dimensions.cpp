// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/dimensions.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// How many dynamic dimensions come before `dimension`.
unsigned dynamicPosition(RankedTensorType type, int64_t dimension) {
  return llvm::count_if(type.getShape().take_front(dimension), ShapedType::isDynamic);
}

/// The tensor whose size `tensor` has, as far back as that is known.
Value sourceOfShape(Value tensor) {
  while (true) {
    auto result = dyn_cast<OpResult>(tensor);
    if (!result)
      return tensor;
    Operation *op = result.getOwner();
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      tensor = linalgOp.getDpsInitOperand(result.getResultNumber())->get();
    else if (linalg_ext::isAlongOp(op))
      tensor = linalg_ext::initOf(op, result.getResultNumber()).get();
    else if (auto cast = dyn_cast<tensor::CastOp>(op); cast && isa<RankedTensorType>(cast.getSource().getType()))
      tensor = cast.getSource();
    else
      return tensor;
  }
}

/// A tensor.dim of the tensor: one that is there already, else a new one.
Value dimOf(OpBuilder &builder, Location loc, Value tensor, int64_t dimension) {
  Block *block = builder.getInsertionBlock();
  for (Operation *user : tensor.getUsers()) {
    auto dim = dyn_cast<tensor::DimOp>(user);
    if (!dim || dim->getBlock() != block || dim.getConstantIndex() != dimension)
      continue;
    if (builder.getInsertionPoint() == block->end() || dim->isBeforeInBlock(&*builder.getInsertionPoint()))
      return dim;
  }
  return tensor::DimOp::create(builder, loc, tensor, dimension);
}

/// A value that is known to be the size; null where only tensor.dim can tell.
Value knownDimension(OpBuilder &builder, Location loc, Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return arith::ConstantIndexOp::create(builder, loc, type.getDimSize(dimension));
  Value source = sourceOfShape(tensor);
  if (source != tensor) {
    if (Value known = knownDimension(builder, loc, source, dimension))
      return known;
    return dimOf(builder, loc, source, dimension);
  }
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSizes()[dynamicPosition(type, dimension)];
  if (auto dispatch = tensor.getDefiningOp<flow::DispatchOp>())
    return dispatch.resultDims(cast<OpResult>(tensor).getResultNumber())[dynamicPosition(type, dimension)];
  if (auto tie = tensor.getDefiningOp<flow::TensorTieShapeOp>())
    return tie.getDynamicDims()[dynamicPosition(type, dimension)];
  if (auto bitcast = tensor.getDefiningOp<flow::TensorBitCastOp>())
    return bitcast.getResultDims()[dynamicPosition(type, dimension)];
  if (auto reshape = tensor.getDefiningOp<flow::TensorReshapeOp>())
    return reshape.getResultDims()[dynamicPosition(type, dimension)];
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>())
    return expand.getOutputShape()[dynamicPosition(type, dimension)];
  if (auto collapse = tensor.getDefiningOp<tensor::CollapseShapeOp>())
    return foldedDimensionOf(builder, loc, collapse.getSrc(), collapse.getReassociationIndices()[dimension]);
  return nullptr;
}

} // namespace

Value dimensionOf(OpBuilder &builder, Location loc, Value tensor, int64_t dimension) {
  if (Value known = knownDimension(builder, loc, tensor, dimension))
    return known;
  return dimOf(builder, loc, tensor, dimension);
}

Value foldedDimensionOf(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> dimensions) {
  Value size = arith::ConstantIndexOp::create(builder, loc, 1);
  for (int64_t dimension : dimensions)
    size = builder.createOrFold<arith::MulIOp>(loc, size, dimensionOf(builder, loc, tensor, dimension));
  return size;
}

SmallVector<Value> unknownSizesOf(OpBuilder &builder, Location loc, Value tensor) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      sizes.push_back(dimensionOf(builder, loc, tensor, dimension));
  return sizes;
}

void resolveDimensions(func::FuncOp function) {
  SmallVector<tensor::DimOp> dims;
  function.walk([&](tensor::DimOp dim) { dims.push_back(dim); });
  for (tensor::DimOp dim : dims) {
    std::optional<int64_t> dimension = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (!dimension || !type || *dimension < 0 || *dimension >= type.getRank())
      continue;
    OpBuilder builder(dim);
    if (Value known = knownDimension(builder, dim.getLoc(), dim.getSource(), *dimension)) {
      dim.replaceAllUsesWith(known);
      dim.erase();
    }
  }
}

} // namespace tenon::compiler::dispatch
