// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/operands/computed_tile.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kChunk = 8; // elements of 16 bytes in the tile
// Of a thread, on their way.
constexpr uint32_t kBytesAhead = 64, kMostAhead = 2;
constexpr int64_t kStep = 64; // the reduced elements of one

} // namespace

ComputedTile::ComputedTile(const ProductKernel &kernel, TileSpace &space, OperandTile &tile, uint32_t threads)
    : kernel_(kernel), k_(kernel.k), space_(space), tile_(tile), operand_(tile.operand()), threads_(threads),
      width_(kernel.product.widthOf(operand_, kernel.shape)), inputs_(kernel, operand_, width_) {}

bool ComputedTile::fits(const Product &product, const GroupShape &shape, const Operand &operand) {
  const std::optional<int64_t> size = shape.axes[operand.vectorAxis].size;
  if (operand.isCopied() || !operand.isAlongReduced || !product.tensorCoreElement() || !size || *size == 0 ||
      *size % kStep != 0)
    return false;
  const uint32_t width = product.widthOf(operand, shape);
  if (width < 2 * kChunk)
    return false; // more than a byte for each element
  return RunInputs::fit(shape, operand, width);
}

const Operand *ComputedTile::operandOf(const Product &product, const GroupShape &shape) {
  if (product.routes || !product.places.empty() || shape.sizeOf(product.reduced).value_or(0) == 0)
    return nullptr; // rows of an expert; perhaps nothing to load, or less than others
  if (product.left.plain && fits(product, shape, product.right))
    return &product.right;
  return product.right.plain && fits(product, shape, product.left) ? &product.left : nullptr;
}

uint32_t ComputedTile::stepsAhead() const {
  return std::clamp(kBytesAhead / (runs() * 16), 1u, kMostAhead);
}

ComputedTile::Run ComputedTile::run(uint32_t number) {
  Value place = k_.add(k_.thread(), k_.number(int64_t(number) * threads_));
  const uint32_t inRow = kernel_.depth / width_;
  return {k_.div(place, k_.number(inRow)), k_.mul(k_.rem(place, k_.number(inRow)), k_.number(width_))};
}

TileSpace::Begun ComputedTile::place(const Run &run, Value step) {
  Value first = &operand_ == &kernel_.product.left ? space_.firstRow() : space_.firstColumn();
  Value reduced = k_.add(k_.mul(step, k_.number(kernel_.depth)), run.inRow);
  return space_.at(operand_, k_.add(first, run.row), reduced, width_, /*mayEnd=*/false);
}

SmallVector<Value> ComputedTile::load(Value step) {
  SmallVector<Value> loaded;
  for (uint32_t number = 0; number < runs(); ++number)
    llvm::append_range(loaded, inputs_.load(place(run(number), step)));
  return loaded;
}

void ComputedTile::put(Value arena, Value step, ValueRange loaded) {
  for (uint32_t number = 0; number < runs(); ++number) {
    Bodies::Scope scope(kernel_.bodies);
    const Run where = run(number);
    inputs_.stage(loaded.slice(number * inputs_.count(), inputs_.count()));
    const SmallVector<Value> values = space_.finish(place(where, step));
    for (uint32_t first = 0; first < width_; first += kChunk)
      tile_.put(arena, where.row, k_.add(where.inRow, k_.number(first)), ArrayRef(values).slice(first, kChunk));
  }
  kernel_.bodies.unstage();
}

} // namespace tenon::compiler::codegen
