// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/part_results.h"

#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/attention/scalar_attention.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kQuad = PartialSum::kQuad;         // columns of a thread
constexpr int64_t kThreads = kScalarAttentionThreads; // which its plan has

Value sizeOf(const AttentionKernel &kernel, ArrayRef<unsigned> axes) {
  Value size = kernel.k.number(1);
  for (unsigned axis : axes)
    size = kernel.k.mul(size, kernel.space.size(axis));
  return size;
}

Value tilesOfElement(const AttentionKernel &kernel) {
  KernelBuilder &k = kernel.k;
  return k.div(k.add(sizeOf(kernel, kernel.attention.output.rows), k.number(kernel.rows - 1)), k.number(kernel.rows));
}

/// Columns of a row.
PartialSum sumOf(KernelBuilder &k, const KeyParts &parts, Value tile, Value row, Value column) {
  Type f32 = k.b.getF32Type();
  SmallVector<PartialSum> each;
  for (uint32_t part = 0; part < parts.count; ++part) {
    Value line = parts.lineAt(k, tile, k.number(part), row);
    Value states = k.load(VectorType::get(2, f32), k.at(line, f32, k.number(parts.columns)), 2 * sizeof(float));
    auto state = [&](uint32_t number) -> Value {
      return LLVM::ExtractElementOp::create(k.b, k.loc, states, k.number(number));
    };
    each.push_back({state(0), state(1), loadQuad(k, k.at(line, f32, column))});
  }
  return combine(k, each);
}

/// Elements of the result, and what the group computes from them, so many at a time.
void store(const AttentionKernel &kernel, const ProductKernel &output, TileSpace &result, Value row, Value column,
           ArrayRef<Value> values, uint32_t width) {
  KernelBuilder &k = kernel.k;
  const RowSum &total = output.product.sum;
  for (uint32_t first = 0; first < values.size(); first += width) {
    Bodies::Scope scope(kernel.bodies);
    kernel.space.vectorAxis = output.product.columns.back();
    kernel.bodies.setWidth(width);
    const Point point = result.resultAt(row, k.add(column, k.number(first)));
    SmallVector<Value> totals;
    for (uint32_t lane = 0; lane < width; ++lane)
      totals.push_back(kernel.bodies.finish(total, point, lane, values[first + lane]));
    kernel.bodies.setRow(total, totals);
    for (const KernelOp &op : kernel.kernel.ops)
      if (kernel.shape.group.isPerRow(op.op))
        kernel.bodies.storeRow(op, point);
  }
}

} // namespace

Value PartResults::tileOf(const AttentionKernel &kernel, const AttentionTile &tile) {
  KernelBuilder &k = kernel.k;
  return k.add(k.mul(tile.inBatch, tilesOfElement(kernel)), k.div(tile.firstRow, k.number(kernel.rows)));
}

int64_t PartResults::elements(const WarpgroupAttentionShape &shape, int64_t tiles) {
  return tiles * shape.parts * shape.rows() * (shape.columns + KeyParts::kBehind);
}

int64_t PartResults::blocks(const WarpgroupAttentionShape &shape, int64_t rows) {
  return int64_t(llvm::divideCeil(rows * (shape.columns / kQuad), kThreads));
}

void PartResults::write(const AttentionKernel &kernel, const KeyParts &parts) {
  KernelBuilder &k = kernel.k;
  const unsigned alongColumns = kernel.attention.output.columns.back();
  const uint32_t width = std::min(kQuad, vectorWidth(kernel.kernel, kernel.shape, alongColumns));
  kernel.space.vectorAxis = alongColumns;
  Value isAligned = kernel.bodies.isAligned(width, /*needsWhole=*/true);
  Value across = k.number(parts.columns / kQuad);
  Value number = k.add(k.mul(k.block(), k.number(k.threads)), k.thread());
  Value rows = sizeOf(kernel, kernel.attention.output.rows), line = k.div(number, across);
  Value all = k.mul(sizeOf(kernel, kernel.attention.output.batch), rows);
  k.when(k.less(line, all), [&] {
    Value element = k.div(line, rows), row = k.rem(line, rows), column = k.mul(k.rem(number, across), k.number(kQuad));
    Value tile = k.add(k.mul(element, tilesOfElement(kernel)), k.div(row, k.number(kernel.rows)));
    const PartialSum sum = sumOf(k, parts, tile, k.rem(row, k.number(kernel.rows)), column);
    const RowTotals totals{{sum.largest}, {sum.weights}};
    Value inverse = totals.inverses(k, kernel.attention.hiddenIsZero).front();
    const SmallVector<Value> values = llvm::map_to_vector(
        sum.values, [&](Value value) -> Value { return arith::MulFOp::create(k.b, k.loc, value, inverse); });
    const ProductKernel output = kernel.product(kernel.attention.output, kernel.rows, parts.columns, kQuad);
    TileSpace result(output, element, row, k.number(0));
    k.branch(
        isAligned, [&] { store(kernel, output, result, row, column, values, width); },
        [&] { store(kernel, output, result, row, column, values, 1); });
    k.when(k.equal(column, k.number(0)), [&] { storeLogSum(kernel, result, row, sum.largest, sum.weights); });
  });
}

} // namespace tenon::compiler::codegen
