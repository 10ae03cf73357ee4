// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of a product's operands at positions of a tile (tile_space.h): values as the body multiplies them, addresses
// for who copies bytes, or numbers in the tensor. Beyond the last row or column it is the last one again; reduced
// elements that are not there are zeros, and so is what a convolution's window meets outside of the image.
#include "compiler/codegen/contraction/tile_space.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Value TileSpace::isAligned(const Operand &operand, unsigned width) {
  Value aligned = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (width == 1)
    return aligned;
  if (operand.border)
    aligned = k_.both(aligned, kernel_.bodies.isAligned(operand.border->tensor, 16));
  auto ask = [&](const KernelTensor &tensor, int64_t elements) {
    aligned = k_.both(aligned, kernel_.bodies.isAligned(tensor, elements * dispatch::elementBytes(tensor.element)));
  };
  for (auto [op, input] : operand.inputs) {
    const KernelTensor &tensor = input->tensor;
    const GroupShape::Along along = kernel_.shape.along(tensor, op->op, operand.vectorAxis);
    if (along == GroupShape::Along::Adjacent || (along == GroupShape::Along::Shifted && input == operand.plain))
      ask(tensor, width);
    else if (auto shared = kernel_.shape.sharedBy(tensor, op->op, operand.vectorAxis); shared && width % *shared == 0)
      ask(tensor, width / *shared);
  }
  Value rest = k_.rem(kernel_.space.size(operand.vectorAxis), k_.number(width));
  return k_.both(aligned, k_.equal(rest, k_.number(0)));
}

std::pair<Point, Value> TileSpace::locate(const Operand &operand, Value across, Value reduced, unsigned width,
                                          bool mayEnd) {
  const Product &product = kernel_.product;
  const bool isLeft = &operand == &product.left;
  const unsigned atOnceAcross = operand.isAlongReduced ? 1 : width, atOnceReduced = operand.isAlongReduced ? width : 1;
  Value exists;
  Point point = origin_;
  if (isLeft && routes_) {
    // Rows that the expert does not have are zeros: nobody reads them from memory.
    exists = k_.less(across, rows_);
    placeNearRow(point, across);
  } else if (isLeft && kernel_.rowPatches) {
    placeNearRow(point, across);
  } else {
    if (!(isLeft ? areRowsInside() : areColumnsInside()))
      across = k_.min(across, k_.sub(isLeft ? rows_ : columns_, k_.number(atOnceAcross)));
    place(point, operand.across, across);
  }
  const bool mayBeNone = mayEnd && !reducedIsWhole();
  if (mayBeNone && !kernel_.reducedPatches) {
    Value isBelow = k_.less(reduced, reduced_);
    exists = exists ? k_.both(exists, isBelow) : isBelow;
    reduced = k_.min(reduced, k_.sub(reduced_, k_.number(atOnceReduced)));
  }
  place(point, product.reduced, reduced, kernel_.reducedPatches);
  if (mayBeNone && kernel_.reducedPatches && liesAcross(product)) {
    exists = this->exists(point, product.reduced, kernel_.reducedPatches);
    clamp(point, product.reduced, kernel_.reducedPatches);
  } else if (mayBeNone && kernel_.reducedPatches) {
    const unsigned last = product.reduced.back(); // the only one with steps that end early
    Value size = kernel_.space.size(last);
    exists = k_.less(point.index[last], size);
    point.index[last] = k_.min(point.index[last], k_.sub(size, k_.number(atOnceReduced)));
  }
  point.id = kernel_.space.newId();
  kernel_.space.vectorAxis = operand.vectorAxis;
  kernel_.bodies.setWidth(width, /*isAligned=*/true, /*isOfOperand=*/true);
  return {point, exists};
}

/// Elements of the expert's matrix that begin at the point.
Value TileSpace::addressOfWeights(const Operand &operand, const Point &point) {
  const KernelTensor &weights = operand.tensor();
  int64_t apart = 1; // elements from an expert to the next
  for (const Extent &extent : ArrayRef(weights.shape).drop_front(*operand.border->expert + 1))
    apart *= extent.size;
  Value address = kernel_.bodies.address(*kernel_.product.op, weights, point);
  return k_.at(address, weights.element, k_.mul(expert_, k_.number(apart)));
}

/// Lanes of a vector in memory.
Lanes TileSpace::readWeights(const Operand &operand, const Point &point, unsigned width) {
  Type element = operand.tensor().element;
  const uint32_t bytes = dispatch::elementBytes(element);
  Value address = addressOfWeights(operand, point);
  Lanes lanes;
  if (width == 1) {
    lanes.values.push_back(k_.load(element, address, bytes));
    return lanes;
  }
  Value vector = k_.load(VectorType::get(width, element), address, width * bytes);
  for (unsigned lane = 0; lane < width; ++lane)
    lanes.values.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, vector, k_.number(lane)));
  lanes.order = Order::Any;
  return lanes;
}

SmallVector<Value> TileSpace::read(const Operand &operand, Value across, Value reduced, unsigned width, bool mayEnd) {
  return finish(at(operand, across, reduced, width, mayEnd));
}

TileSpace::Begun TileSpace::at(const Operand &operand, Value across, Value reduced, unsigned width, bool mayEnd) {
  auto [point, exists] = locate(operand, across, reduced, width, mayEnd);
  return {&operand, width, std::move(point), exists};
}

TileSpace::Begun TileSpace::begin(const Operand &operand, Value across, Value reduced, unsigned width, bool mayEnd) {
  Begun begun = at(operand, across, reduced, width, mayEnd);
  for (auto [op, input] : operand.inputs)
    kernel_.bodies.load(*op, input->tensor, begun.point);
  return begun;
}

SmallVector<Value> TileSpace::finish(const Begun &begun) {
  kernel_.space.vectorAxis = begun.operand->vectorAxis;
  kernel_.bodies.setWidth(begun.width, /*isAligned=*/true, /*isOfOperand=*/true);
  const Lanes read = isOfExpert(*begun.operand)
                         ? readWeights(*begun.operand, begun.point, begun.width)
                         : kernel_.bodies.ofBody(*kernel_.product.op, begun.operand->value, begun.point);
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < begun.width; ++lane) {
    Value value = read[lane];
    if (begun.exists)
      value = k_.select(begun.exists, value,
                        arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(value.getType())).getResult());
    lanes.push_back(value);
  }
  return lanes;
}

Value TileSpace::isInside(const KernelBorder &border, const Point &point) {
  Value inside = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  for (auto [expr, extent, mayLeave] :
       llvm::zip_equal(border.tensor.map.getResults(), border.tensor.shape, border.mayLeave)) {
    if (!mayLeave)
      continue;
    Value position = kernel_.space.position(expr, kernel_.product.op->op, point, 0);
    inside = k_.both(inside,
                     arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ult, position, k_.number(extent.size)));
  }
  return inside;
}

TileSpace::Source TileSpace::sourceWhere(const Operand &operand, Value across, Value reduced, unsigned width,
                                         bool mayEnd) {
  auto [point, exists] = locate(operand, across, reduced, width, mayEnd);
  if (isOfExpert(operand))
    return {addressOfWeights(operand, point), exists};
  Value address = kernel_.bodies.address(*kernel_.product.op, operand.tensor(), point);
  if (!operand.border)
    return {address, exists};
  Value inside = isInside(*operand.border, point);
  return {address, exists ? k_.both(exists, inside) : inside};
}

TileSpace::Numbered TileSpace::numbered(const Operand &operand, Value across, Value reduced, bool mayEnd) {
  auto [point, exists] = locate(operand, across, reduced, 1, mayEnd);
  return {kernel_.space.element(operand.tensor(), kernel_.product.op->op, point, 0), exists};
}

TileSpace::Source TileSpace::source(const Operand &operand, Value across, Value reduced, unsigned width, bool mayEnd) {
  Source source = sourceWhere(operand, across, reduced, width, mayEnd);
  if (operand.border && !isOfExpert(operand))
    source.address = k_.select(source.exists, source.address, kernel_.bodies.base(operand.tensor()));
  return source;
}

} // namespace tenon::compiler::codegen
