// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/tensors/element_builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

Value valueOf(OpBuilder &b, Location loc, OpFoldResult index) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return arith::ConstantIndexOp::create(b, loc, *known);
  return cast<Value>(index);
}

} // namespace

Value buildEmpty(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      dynamic.push_back(valueOf(b, loc, sizes[dimension]));
  return tensor::EmptyOp::create(b, loc, type, dynamic);
}

Value buildElements(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<OpFoldResult> sizes,
                    ElementFunction element) {
  const unsigned rank = type.getRank();
  Value empty = buildEmpty(b, loc, type, sizes);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange(type), ValueRange(), ValueRange(empty), ArrayRef{b.getMultiDimIdentityMap(rank)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &inner, Location innerLoc, ValueRange) {
        SmallVector<Value> indices;
        for (unsigned dimension = 0; dimension < rank; ++dimension)
          indices.push_back(linalg::IndexOp::create(inner, innerLoc, dimension));
        linalg::YieldOp::create(inner, innerLoc, element(inner, innerLoc, indices));
      });
  return generic.getResult(0);
}

Value readElement(OpBuilder &b, Location loc, Value tensor, ValueRange indices) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  if (tensor.getDefiningOp<tensor::EmptyOp>()) {
    if (TypedAttr zero = b.getZeroAttr(type.getElementType()))
      return arith::ConstantOp::create(b, loc, zero);
  }
  DenseElementsAttr data;
  if (matchPattern(tensor, m_Constant(&data)) && data.isSplat())
    if (auto splat = dyn_cast<TypedAttr>(data.getSplatValue<Attribute>()))
      return arith::ConstantOp::create(b, loc, splat);
  return tensor::ExtractOp::create(b, loc, tensor, indices);
}

Window::Window(OpBuilder &b, Location loc, Value tensor)
    : tensor(tensor), sizes(tensor::getMixedSizes(b, loc, tensor)) {}

void Window::add(OpBuilder &b, Location loc, Value place, Value condition) {
  places.push_back(place);
  guarded.push_back(condition != nullptr);
  inside = both(b, loc, inside, condition);
}

Value Window::read(OpBuilder &b, Location loc, Value outside) {
  for (unsigned dimension : guarded.set_bits())
    places[dimension] = clampIndex(b, loc, places[dimension], sizes[dimension]);
  Value element = readElement(b, loc, tensor, places);
  return inside && outside ? arith::SelectOp::create(b, loc, inside, element, outside).getResult() : element;
}

Value addIndex(OpBuilder &b, Location loc, Value x, OpFoldResult y) {
  return isZeroInteger(y) ? x : arith::AddIOp::create(b, loc, x, valueOf(b, loc, y)).getResult();
}

Value subtractIndex(OpBuilder &b, Location loc, Value x, OpFoldResult y) {
  return isZeroInteger(y) ? x : arith::SubIOp::create(b, loc, x, valueOf(b, loc, y)).getResult();
}

Value multiplyIndex(OpBuilder &b, Location loc, Value x, OpFoldResult y) {
  return isOneInteger(y) ? x : arith::MulIOp::create(b, loc, x, valueOf(b, loc, y)).getResult();
}

Value divideIndex(OpBuilder &b, Location loc, Value x, OpFoldResult y) {
  return isOneInteger(y) ? x : arith::DivUIOp::create(b, loc, x, valueOf(b, loc, y)).getResult();
}

Value remainderIndex(OpBuilder &b, Location loc, Value x, OpFoldResult y) {
  if (isOneInteger(y))
    return arith::ConstantIndexOp::create(b, loc, 0);
  return arith::RemUIOp::create(b, loc, x, valueOf(b, loc, y));
}

Value isBelow(OpBuilder &b, Location loc, Value x, OpFoldResult y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, valueOf(b, loc, y));
}

Value both(OpBuilder &b, Location loc, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Value clampIndex(OpBuilder &b, Location loc, Value index, OpFoldResult size) {
  if (!index.getType().isIndex())
    index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  if (isOneInteger(size))
    return zero;
  Value last;
  if (std::optional<int64_t> known = getConstantIntValue(size))
    last = arith::ConstantIndexOp::create(b, loc, *known - 1);
  else
    last = arith::SubIOp::create(b, loc, cast<Value>(size), arith::ConstantIndexOp::create(b, loc, 1));
  Value upper = arith::MinSIOp::create(b, loc, index, last);
  return arith::MaxSIOp::create(b, loc, upper, zero);
}

} // namespace tenon::compiler::input
