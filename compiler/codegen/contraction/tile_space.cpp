// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/tile_space.h"

#include "compiler/dispatch/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

// Tiles of so many rows run before the next column of them: their operands fit the second-level cache together.
static constexpr uint32_t kRowsOfTiles = 8;

TileSpace::TileSpace(const ProductKernel &kernel, Value tile) : kernel_(kernel), k_(kernel.k) {
  const Product &product = kernel.product;
  rows_ = sizeOf(product.rows);
  columns_ = sizeOf(product.columns);
  reduced_ = sizeOf(product.reduced);
  auto tilesOf = [&](Value size, uint32_t side) { return k_.div(k_.add(size, k_.number(side - 1)), k_.number(side)); };
  const uint32_t rows = kernel.rows * kernel.cluster, high = kRowsOfTiles / kernel.cluster;
  Value down = tilesOf(rows_, rows), across = tilesOf(columns_, kernel.columns);
  Value perBatch = k_.mul(down, across), number = k_.rem(tile, perBatch);
  tiles_ = k_.mul(perBatch, sizeOf(product.batch));
  Value perBand = k_.mul(across, k_.number(high));
  Value first = k_.mul(k_.div(number, perBand), k_.number(high));
  Value height = k_.min(k_.sub(down, first), k_.number(high)), inBand = k_.rem(number, perBand);
  firstRow_ = k_.mul(k_.add(first, k_.rem(inBand, height)), k_.number(rows));
  if (kernel.cluster > 1)
    firstRow_ = k_.add(firstRow_, k_.mul(k_.rem(k_.block(), k_.number(kernel.cluster)), k_.number(kernel.rows)));
  firstColumn_ = k_.mul(k_.div(inBand, height), k_.number(kernel.columns));
  origin_.index.assign(kernel.shape.axes.size(), k_.number(0));
  place(origin_, product.batch, k_.div(tile, perBatch));
}

TileSpace::TileSpace(const ProductKernel &kernel, Value inBatch, Value firstRow, Value firstColumn)
    : kernel_(kernel), k_(kernel.k), firstRow_(firstRow), firstColumn_(firstColumn) {
  const Product &product = kernel.product;
  rows_ = sizeOf(product.rows);
  columns_ = sizeOf(product.columns);
  reduced_ = sizeOf(product.reduced);
  origin_.index.assign(kernel.shape.axes.size(), k_.number(0));
  place(origin_, product.batch, inBatch);
}

std::optional<int64_t> TileSpace::knownSize(ArrayRef<unsigned> axes) const {
  int64_t size = 1;
  for (unsigned axis : axes) {
    if (!kernel_.shape.axes[axis].size)
      return std::nullopt;
    size *= *kernel_.shape.axes[axis].size;
  }
  return size;
}

bool TileSpace::isWhole(ArrayRef<unsigned> axes, uint32_t side) const {
  const std::optional<int64_t> size = knownSize(axes);
  return size && *size % side == 0;
}

Value TileSpace::sizeOf(ArrayRef<unsigned> axes) {
  Value size = k_.number(1);
  for (unsigned axis : axes)
    size = k_.mul(size, kernel_.space.size(axis));
  return size;
}

void TileSpace::place(Point &point, ArrayRef<unsigned> axes, Value linear) {
  for (size_t i = axes.size(); i-- > 0;) {
    Value size = kernel_.space.size(axes[i]);
    point.index[axes[i]] = i == 0 ? linear : k_.rem(linear, size);
    if (i != 0)
      linear = k_.div(linear, size);
  }
}

Point TileSpace::resultAt(Value row, Value column) {
  Point point = origin_;
  place(point, kernel_.product.rows, row);
  place(point, kernel_.product.columns, column);
  point.id = kernel_.space.newId();
  return point;
}

Value TileSpace::isAligned(const Operand &operand, unsigned width) {
  Value aligned = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (width == 1)
    return aligned;
  for (auto [op, input] : operand.inputs)
    if (kernel_.shape.along(input->tensor, op->op, operand.vectorAxis) == GroupShape::Along::Adjacent)
      aligned = k_.both(aligned, kernel_.bodies.isAligned(
                                     input->tensor, int64_t(width) * dispatch::elementBytes(input->tensor.element)));
  Value rest = k_.rem(kernel_.space.size(operand.vectorAxis), k_.number(width));
  return k_.both(aligned, k_.equal(rest, k_.number(0)));
}

std::pair<Point, Value> TileSpace::locate(const Operand &operand, Value across, Value reduced, unsigned width,
                                          bool mayEnd) {
  const Product &product = kernel_.product;
  const bool isLeft = &operand == &product.left;
  const uint32_t side = isLeft ? kernel_.rows * kernel_.cluster : kernel_.columns;
  Value exists;
  if (!isWhole(operand.across, side))
    across = k_.min(across, k_.sub(isLeft ? rows_ : columns_, k_.number(operand.isAlongReduced ? 1 : width)));
  if (mayEnd && !reducedIsWhole()) {
    exists = k_.less(reduced, reduced_);
    reduced = k_.min(reduced, k_.sub(reduced_, k_.number(operand.isAlongReduced ? width : 1)));
  }
  Point point = origin_;
  place(point, operand.across, across);
  place(point, product.reduced, reduced);
  point.id = kernel_.space.newId();
  kernel_.space.vectorAxis = operand.vectorAxis;
  kernel_.bodies.setWidth(width);
  return {point, exists};
}

SmallVector<Value> TileSpace::read(const Operand &operand, Value across, Value reduced, unsigned width, bool mayEnd) {
  auto [point, exists] = locate(operand, across, reduced, width, mayEnd);
  const Lanes read = kernel_.bodies.ofBody(*kernel_.product.op, operand.value, point);
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < width; ++lane) {
    Value value = read[lane];
    if (exists)
      value = k_.select(exists, value,
                        arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(value.getType())).getResult());
    lanes.push_back(value);
  }
  return lanes;
}

TileSpace::Source TileSpace::source(const Operand &operand, Value across, Value reduced, unsigned width, bool mayEnd) {
  auto [point, exists] = locate(operand, across, reduced, width, mayEnd);
  return {kernel_.bodies.address(*kernel_.product.op, operand.plain->tensor, point), exists};
}

} // namespace tenon::compiler::codegen
