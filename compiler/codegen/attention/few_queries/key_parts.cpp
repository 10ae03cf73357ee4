// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/key_parts.h"

#include "abi/arch_table.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kMostSplit = 264; // blocks: two for each multiprocessor
constexpr uint32_t kWarp = 32, kWarps = kKeyPartsThreads / kWarp;

/// Adds up the parts of a row: each warp some of them, then those of the warps.
class PartsSum {
public:
  PartsSum(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts &parts, uint32_t split)
      : kernel_(kernel), shape_(shape), parts_(parts), k_(kernel.k), split_(split), columns_(parts.columns / split),
        lanes_(columns_ / kWarp) {}

  void run();

private:
  Type f32() { return k_.b.getF32Type(); }
  Value constant(double value) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(float(value))); }
  Value element(Value base, uint32_t number) { return k_.at(base, f32(), k_.number(number)); }
  /// Of a lane's columns, those side by side.
  uint32_t width() const { return std::gcd(lanes_, PartialSum::kQuad); }
  Value columnOf(Value lane, uint32_t number) {
    const uint32_t first = number / width() * width();
    return k_.add(k_.mul(lane, k_.number(width())), k_.number(int64_t(kWarp) * first + number % width()));
  }
  PartialSum ofMemory(Value line, Value lane);
  PartialSum ofWarp(Value tile, Value row, Value warp, Value lane);

  const AttentionKernel &kernel_;
  const FewQueriesShape &shape_;
  const KeyParts &parts_;
  KernelBuilder &k_;
  const uint32_t split_;   // blocks of a row
  const uint32_t columns_; // of a block
  const uint32_t lanes_;   // of a lane
  Value first_;            // column of the block
};

PartialSum PartsSum::ofMemory(Value line, Value lane) {
  PartialSum sum;
  Value states = k_.load(VectorType::get(2, f32()), element(line, parts_.columns), 8);
  auto at = [&](Value vector, uint32_t number) -> Value {
    return LLVM::ExtractElementOp::create(k_.b, k_.loc, vector, k_.number(number));
  };
  sum.largest = at(states, 0);
  sum.weights = at(states, 1);
  for (uint32_t first = 0; first < lanes_; first += width()) {
    Value begin = k_.at(line, f32(), k_.add(first_, columnOf(lane, first)));
    Value values = k_.load(VectorType::get(width(), f32()), begin, sizeof(float) * width());
    for (uint32_t i = 0; i < width(); ++i)
      sum.values.push_back(at(values, i));
  }
  return sum;
}

/// Of the parts whose numbers are the warp's, and eight more each time.
PartialSum PartsSum::ofWarp(Value tile, Value row, Value warp, Value lane) {
  SmallVector<PartialSum> each;
  for (uint32_t first = 0; first < parts_.count; first += kWarps) {
    Value part = k_.add(warp, k_.number(first));
    if (first + kWarps <= parts_.count) {
      each.push_back(ofMemory(parts_.lineAt(k_, tile, part, row), lane));
      continue;
    }
    // Of a part that is not there, the last one is read and counts nothing.
    Value last = k_.number(parts_.count - 1), isPart = k_.less(part, k_.number(parts_.count));
    PartialSum sum = ofMemory(parts_.lineAt(k_, tile, k_.min(part, last), row), lane);
    sum.largest = k_.select(isPart, sum.largest, constant(-INFINITY));
    sum.weights = k_.select(isPart, sum.weights, constant(0));
    for (Value &value : sum.values)
      value = k_.select(isPart, value, constant(0));
    each.push_back(sum);
  }
  return combine(k_, each);
}

void PartsSum::run() {
  Value sums, states;
  if (shape_.isShared()) {
    sums = k_.dynamicShared();
    states = element(sums, kWarps * columns_);
  } else {
    sums = k_.shared(f32(), uint64_t(kWarps) * columns_);
    states = k_.shared(f32(), 2 * kWarps);
  }
  Value warp = k_.div(k_.thread(), k_.number(kWarp)), lane = k_.rem(k_.thread(), k_.number(kWarp));
  Value rows = k_.number(parts_.rows), groups = k_.number(shape_.groups());
  Value split = k_.number(split_), line = k_.div(k_.block(), split);
  Value tile = k_.div(line, rows), row = k_.rem(line, rows);
  first_ = k_.mul(k_.rem(k_.block(), split), k_.number(columns_));
  const PartialSum mine = ofWarp(tile, row, warp, lane);
  auto sumAt = [&](Value warp, Value column) {
    return k_.at(sums, f32(), k_.add(k_.mul(warp, k_.number(columns_)), column));
  };
  auto stateAt = [&](Value warp, uint32_t number) {
    return k_.at(states, f32(), k_.add(k_.mul(warp, k_.number(2)), k_.number(number)));
  };
  for (uint32_t i = 0; i < lanes_; ++i)
    k_.store(mine.values[i], sumAt(warp, columnOf(lane, i)), 4);
  k_.when(k_.equal(lane, k_.number(0)), [&] {
    k_.store(mine.largest, stateAt(warp, 0), 4);
    k_.store(mine.weights, stateAt(warp, 1), 4);
  });
  k_.barrier();

  Value inBlock = k_.thread(), column = k_.add(first_, inBlock);
  const ProductKernel output =
      kernel_.product(kernel_.attention.output, shape_.kRows, parts_.columns, FewQueriesShape::kKeys);
  Value firstRow = k_.mul(k_.rem(tile, groups), k_.number(shape_.blockRows()));
  TileSpace result(output, k_.div(tile, groups), firstRow, k_.number(0));
  Value ofAll = k_.add(firstRow, row);
  Value isColumn = k_.both(k_.less(inBlock, k_.number(columns_)), k_.less(column, k_.number(shape_.columns)));
  k_.when(k_.both(isColumn, k_.less(ofAll, result.rows())), [&] {
    SmallVector<PartialSum> each;
    for (uint32_t of = 0; of < kWarps; ++of) {
      Value from = k_.number(of);
      each.push_back({k_.load(f32(), stateAt(from, 0), 4),
                      k_.load(f32(), stateAt(from, 1), 4),
                      {k_.load(f32(), sumAt(from, inBlock), 4)}});
    }
    // Parts are of keys that are there: none at all is another kernel's.
    storeResult(kernel_, output, result, ofAll, column, combine(k_, each), [](Value quotient) { return quotient; });
  });
}

} // namespace

BlockPlace::BlockPlace(KernelBuilder &k, const FewQueriesShape &shape, uint32_t parts)
    : groups(k.number(shape.groups())) {
  group = k.rem(k.block(), groups);
  Value behind = k.div(k.block(), groups);
  tile = k.div(behind, k.number(parts));
  rank = k.rem(behind, k.number(parts));
}

Value BlockPlace::number(KernelBuilder &k) const {
  return k.add(k.mul(tile, groups), group);
}

int64_t keyPartsElements(const FewQueriesShape &shape, int64_t tiles, int64_t parts) {
  return tiles * shape.groups() * parts * shape.rowsOfBlock() * (shape.wholeColumns() + KeyParts::kBehind);
}

uint32_t keyPartsSplit(const FewQueriesShape &shape, int64_t tiles) {
  const int64_t rows = tiles * shape.groups() * shape.rowsOfBlock();
  const uint32_t columns = shape.wholeColumns();
  uint32_t split = 1;
  // A thread has a column.
  while (columns % (2 * split * kWarp) == 0 && (columns / split > kKeyPartsThreads || 2 * split * rows <= kMostSplit))
    split *= 2;
  return split;
}

uint32_t keyPartsSharedBytes(const FewQueriesShape &shape, uint32_t inFront, int64_t tiles) {
  if (!shape.isShared())
    return 0;
  const uint32_t split = keyPartsSplit(shape, tiles);
  const int64_t blocks = tiles * shape.groups() * shape.rowsOfBlock() * split;
  const uint32_t used = kWarps * (shape.wholeColumns() / split + 2) * uint32_t(sizeof(float));
  return blocks <= abi::kHopperMultiprocessors ? inFront : used;
}

void writeKeyPartsSum(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts &parts,
                      uint32_t split) {
  PartsSum(kernel, shape, parts, split).run();
}

} // namespace tenon::compiler::codegen
