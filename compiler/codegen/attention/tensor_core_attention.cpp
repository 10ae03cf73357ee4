// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/tensor_core_attention.h"

#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/contraction/operands/operand_tile.h"
#include "compiler/codegen/contraction/result_tile.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarps = kTensorCoreAttentionThreads / 32;
constexpr uint32_t kManyKeys = 64, kFewKeys = 32;        // of a block
constexpr uint32_t kFewColumns = 64, kManyColumns = 128; // of the values
// A weight may be as large as e^5 before what has been summed is scaled: 128 products of each thread are, of every
// block of 128 columns, where hardly any block behind the first ones has a larger logit.
constexpr double kSlack = 5;
constexpr uint32_t kFragmentRows = 16, kFragmentColumns = 8, kFragmentDepth = 16;
constexpr uint32_t kStaticSharedBytes = 48 << 10;      // that a kernel has without asking for more
constexpr uint32_t kPartRows = kWarps * kFragmentRows; // of the result, in shared memory at once

/// Elements of a row of a tile of queries or keys: 128 bytes, or 64 where the last ones would be mostly zeros.
uint32_t depthOfTile(uint32_t depth) {
  const uint32_t rest = depth % 64;
  return rest == 0 || rest > 32 ? 64 : 32;
}
uint32_t tilesOf(uint32_t depth) {
  return llvm::divideCeil(depth, depthOfTile(depth));
}
/// Of all tiles of so many rows, or keys.
uint32_t bytesOf(uint32_t depth, uint32_t rows) {
  return rows * tilesOf(depth) * depthOfTile(depth) * 2;
}
uint32_t columnsOf(const TensorCoreAttentionShape &shape) {
  return llvm::divideCeil(shape.columns, 64u) * 64;
}

class TensorCoreAttention {
public:
  TensorCoreAttention(const AttentionKernel &kernel, const TensorCoreAttentionShape &shape)
      : kernel_(kernel), shape_(shape), k_(kernel.k), element_(kernel.attention.tensorCoreElement()),
        core_(k_, element_), output_(kernel.product(kernel.attention.output, shape.rows, columnsOf(shape), shape.keys)),
        fragments_(shape.rows / (kWarps * kFragmentRows)),
        columnPairs_(llvm::divideCeil(shape.columns, 2 * kFragmentColumns)),
        softmax_(k_, k_.b.getF32Type(), 2 * fragments_, {1, 2}, /*isFast=*/true) {
    for (auto [product, depth] : llvm::zip_equal(kernel.attention.inner(), shape.depths))
      inner_.push_back({kernel.product(*product, shape.rows, shape.keys, depthOfTile(depth)), depth, {}, {}});
  }

  void run();

private:
  using Values = SmallVector<Value>;
  // A product that scores come from.
  struct Inner {
    ProductKernel kernel;
    uint32_t depth;
    Value queries, keys;                                                   // shared
    uint32_t queryBytes() const { return kernel.rows * kernel.depth * 2; } // of one tile
    uint32_t keyBytes() const { return kernel.columns * kernel.depth * 2; }
  };

  void part();
  Value inArena(uint32_t bytes) { return k_.at(arena_, k_.b.getI8Type(), k_.number(bytes)); }
  uint32_t states() const { return kernel_.attention.isChain ? 0 : 4 * fragments_; } // that softmax carries

  OperandTile tileFor(const ProductKernel &kernel, TileSpace &space, const Operand &operand);
  void bring(const ProductKernel &kernel, const Operand &operand, Value firstColumn, Value to, Value step);
  void bringQueries();
  void bringKeys(Value firstKey);
  void bringValues(Value firstKey);
  Values rightFragments(const OperandTile &tile, Value base, uint32_t pair, uint32_t part);
  Values scoresOf(const Inner &inner, Value firstKey);
  SmallVector<LogitRun> runsOf(Value firstKey);
  SmallVector<Values> factorsOf(ArrayRef<Values> weights);
  Values weighted(ArrayRef<Values> weights, Values sums);
  Values block(const KeyRange &range, std::optional<bool> isWhole, Value firstKey, ValueRange carried);
  Values blocks(const KeyRange &range, Values carried);
  void write(const KeyRange &range, ArrayRef<Value> carried);

  const AttentionKernel &kernel_;
  const TensorCoreAttentionShape shape_;
  KernelBuilder &k_;
  Type element_;
  TensorCore core_;
  SmallVector<Inner, 2> inner_;
  const ProductKernel output_;
  const uint32_t fragments_;   // of 16 rows, of a warp
  const uint32_t columnPairs_; // of twice 8 columns
  OnlineSoftmax softmax_;
  AttentionTile tile_;
  Value arena_, values_;  // shared
  Value lane_, firstRow_; // of the warp, in the tile
};

/// Its bytes are what its elements take: those of 32 keys, too.
OperandTile TensorCoreAttention::tileFor(const ProductKernel &kernel, TileSpace &space, const Operand &operand) {
  const uint32_t side = &operand == &kernel.product.left ? kernel.rows : kernel.columns;
  return OperandTile(kernel, space, core_, operand, /*isRounded=*/false, std::min(128u, side * 2));
}

/// One tile of an operand; as vectors where they are whole and aligned.
void TensorCoreAttention::bring(const ProductKernel &kernel, const Operand &operand, Value firstColumn, Value to,
                                Value step) {
  TileSpace space(kernel, tile_.inBatch, tile_.firstRow, firstColumn);
  OperandTile tile = tileFor(kernel, space, operand);
  k_.branch(tile.isAligned(), [&] { tile.bring(to, step, true); }, [&] { tile.bring(to, step, false); });
}

void TensorCoreAttention::bringQueries() {
  for (const Inner &inner : inner_)
    for (uint32_t tile = 0; tile < tilesOf(inner.depth); ++tile)
      bring(inner.kernel, inner.kernel.product.left, k_.number(0),
            k_.at(inner.queries, k_.b.getI8Type(), k_.number(tile * inner.queryBytes())), k_.number(tile));
}

void TensorCoreAttention::bringKeys(Value firstKey) {
  for (const Inner &inner : inner_)
    for (uint32_t tile = 0; tile < tilesOf(inner.depth); ++tile)
      bring(inner.kernel, inner.kernel.product.right, firstKey,
            k_.at(inner.keys, k_.b.getI8Type(), k_.number(tile * inner.keyBytes())), k_.number(tile));
}

void TensorCoreAttention::bringValues(Value firstKey) {
  bring(output_, output_.product.right, k_.number(0), values_, k_.div(firstKey, k_.number(shape_.keys)));
}

/// Twice 16 x 8 elements side by side: two registers each.
TensorCoreAttention::Values TensorCoreAttention::rightFragments(const OperandTile &tile, Value base, uint32_t pair,
                                                                uint32_t part) {
  Value eight = k_.number(8), row, chunk;
  Value inDepth = k_.rem(k_.div(lane_, eight), k_.number(2)), inPair = k_.div(lane_, k_.number(16));
  if (tile.liesAlongReduced()) {
    row = k_.add(k_.number(pair * 2 * kFragmentColumns), k_.add(k_.mul(inPair, eight), k_.rem(lane_, eight)));
    chunk = k_.add(k_.number(part * 2), inDepth);
  } else {
    row = k_.add(k_.number(part * kFragmentDepth), k_.add(k_.mul(inDepth, eight), k_.rem(lane_, eight)));
    chunk = k_.add(k_.number(pair * 2), inPair);
  }
  return core_.loadMatrices(k_.at(base, k_.b.getI8Type(), const_cast<OperandTile &>(tile).offsetOf(row, chunk)),
                            !tile.liesAlongReduced());
}

/// [16 rows][8 keys][4].
TensorCoreAttention::Values TensorCoreAttention::scoresOf(const Inner &inner, Value firstKey) {
  const uint32_t pairs = shape_.keys / (2 * kFragmentColumns);
  TileSpace space(inner.kernel, tile_.inBatch, tile_.firstRow, firstKey);
  const Product &product = inner.kernel.product;
  OperandTile queries = tileFor(inner.kernel, space, product.left), keys = tileFor(inner.kernel, space, product.right);
  Values sums(fragments_ * pairs * 2 * 4, neutral(k_, product.sum.sum));
  const uint32_t inTile = inner.kernel.depth / kFragmentDepth;
  for (uint32_t depth = 0; depth < llvm::divideCeil(inner.depth, kFragmentDepth); ++depth) {
    const uint32_t tile = depth / inTile, part = depth % inTile;
    Value ofQueries = k_.at(inner.queries, k_.b.getI8Type(), k_.number(tile * inner.queryBytes())),
          ofKeys = k_.at(inner.keys, k_.b.getI8Type(), k_.number(tile * inner.keyBytes()));
    SmallVector<Values> left;
    for (uint32_t fragment = 0; fragment < fragments_; ++fragment)
      left.push_back(queries.leftFragment(lane_, ofQueries, k_.add(firstRow_, k_.number(fragment * kFragmentRows)),
                                          k_.number(part)));
    for (uint32_t pair = 0; pair < pairs; ++pair) {
      const Values right = rightFragments(keys, ofKeys, pair, part);
      for (uint32_t fragment = 0; fragment < fragments_; ++fragment)
        for (uint32_t half = 0; half < 2; ++half) {
          Value *first = sums.begin() + 4 * ((fragment * pairs + pair) * 2 + half);
          llvm::copy(core_.multiply(left[fragment], ArrayRef(right).slice(2 * half, 2), ArrayRef<Value>(first, 4)),
                     first);
        }
    }
  }
  return sums;
}

/// Left factors of 16 x 16, one for each 16 keys, from weights[8 rows][keys of a thread]: of a row a thread has two of
/// each eight.
SmallVector<TensorCoreAttention::Values> TensorCoreAttention::factorsOf(ArrayRef<Values> weights) {
  SmallVector<Values> factors(fragments_);
  for (uint32_t fragment = 0; fragment < fragments_; ++fragment)
    for (uint32_t first = 0; first < 2 * shape_.keys / kFragmentColumns; first += 2)
      for (uint32_t half = 0; half < 2; ++half) {
        const Values &row = weights[2 * fragment + half];
        factors[fragment].push_back(core_.pair(row[first], row[first + 1]));
      }
  return factors;
}

/// sums[16 rows][8 columns][4] += weights * values
TensorCoreAttention::Values TensorCoreAttention::weighted(ArrayRef<Values> weights, Values sums) {
  TileSpace space(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  const OperandTile values = tileFor(output_, space, output_.product.right);
  for (uint32_t part = 0; part < shape_.keys / kFragmentDepth; ++part) {
    for (uint32_t pair = 0; pair < columnPairs_; ++pair) {
      const Values right = rightFragments(values, values_, pair, part);
      for (uint32_t fragment = 0; fragment < fragments_; ++fragment)
        for (uint32_t half = 0; half < 2; ++half) {
          Value *first = sums.begin() + 4 * ((fragment * columnPairs_ + pair) * 2 + half);
          llvm::copy(core_.multiply(ArrayRef(weights[fragment]).slice(4 * part, 4), ArrayRef(right).slice(2 * half, 2),
                                    ArrayRef<Value>(first, 4)),
                     first);
        }
    }
  }
  return sums;
}

/// Scores of all products.
SmallVector<LogitRun> TensorCoreAttention::runsOf(Value firstKey) {
  SmallVector<Values, 2> scores;
  for (const Inner &inner : inner_)
    scores.push_back(scoresOf(inner, firstKey));
  Value row = k_.add(k_.add(tile_.firstRow, firstRow_), k_.div(lane_, k_.number(4)));
  Value key = k_.add(firstKey, k_.mul(k_.rem(lane_, k_.number(4)), k_.number(2)));
  const uint32_t columns = shape_.keys / kFragmentColumns;
  SmallVector<LogitRun> runs;
  for (uint32_t half = 0; half < 2 * fragments_; ++half) // 8 rows each
    for (uint32_t column = 0; column < columns; ++column) {
      auto ofRun = [&](const Values &all) {
        const Value *first = all.begin() + 4 * (half / 2 * columns + column) + 2 * (half % 2);
        return Values(first, first + 2);
      };
      runs.push_back({k_.add(row, k_.number(half * 8)), k_.add(key, k_.number(column * kFragmentColumns)),
                      ofRun(scores.front()), scores.size() > 1 ? ofRun(scores.back()) : Values()});
    }
  return runs;
}

/// Carried: what softmax does, then the sums of the result.
/// @param isWhole whether all rows see all of its keys; not known: asked where it runs
TensorCoreAttention::Values TensorCoreAttention::block(const KeyRange &range, std::optional<bool> isWhole,
                                                       Value firstKey, ValueRange carried) {
  Bodies::Scope scope(kernel_.bodies);
  TileSpace space(inner_.front().kernel, tile_.inBatch, tile_.firstRow, firstKey);
  core_.waitForGroups(0);
  k_.barrier(); // keys are there; everybody has read the values of the block before
  bringValues(firstKey);
  core_.closeGroup();
  SmallVector<LogitRun> runs = runsOf(firstKey);
  double scale = 1;
  if (isWhole)
    scale = range.computeLogits(space, runs, *isWhole);
  else
    range.computeLogits(space, firstKey, runs);
  storeWeights(kernel_, space, runs);
  SmallVector<Values> weights(2 * fragments_);
  for (auto [number, run] : llvm::enumerate(runs))
    llvm::append_range(weights[number / (shape_.keys / kFragmentColumns)], run.scores);
  OnlineSoftmax::Step step;
  const bool hasSlack = shape_.columns > kFewColumns && range.isScaled();
  if (!kernel_.attention.isChain)
    step = softmax_.step(carried.take_front(states()), weights, scale, hasSlack ? kSlack : 0);

  const SmallVector<Values> factors = factorsOf(weights); // half as many registers
  core_.waitForGroups(0);
  k_.barrier(); // values are there; everybody has read the keys
  Value next = k_.add(firstKey, k_.number(shape_.keys));
  k_.when(k_.less(next, range.last()), [&] { bringKeys(next); });
  core_.closeGroup();
  Values sums = llvm::to_vector(carried.drop_front(states()));
  if (!kernel_.attention.isChain)
    sums = softmax_.scaled(step, carried.drop_front(states()), [&](size_t i) {
      return uint32_t(2 * (i / (columnPairs_ * 8)) + i % 4 / 2); // 8 rows each
    });
  Values after = step.carried;
  llvm::append_range(after, weighted(factors, sums));
  return after;
}

void TensorCoreAttention::write(const KeyRange &range, ArrayRef<Value> carried) {
  const bool isChain = kernel_.attention.isChain;
  const RowTotals totals = isChain ? RowTotals() : softmax_.totals(carried.take_front(states()));
  const Values inverses = totals.inverses(k_, kernel_.attention.hiddenIsZero);
  const Value *sums = carried.begin() + states();
  Value inPart =
      k_.add(k_.mul(k_.div(k_.thread(), k_.number(32)), k_.number(kFragmentRows)), k_.div(lane_, k_.number(4)));
  Value pair = k_.mul(k_.rem(lane_, k_.number(4)), k_.number(2));
  SmallVector<ResultPart> parts;
  for (uint32_t fragment = 0; fragment < fragments_; ++fragment) {
    ResultPart &part = parts.emplace_back();
    part.rows = kPartRows;
    part.columns = columnsOf(shape_);
    part.rowOf = [this, fragment](Value row) {
      Value warp = k_.mul(k_.div(row, k_.number(kFragmentRows)), k_.number(fragments_ * kFragmentRows));
      return k_.add(k_.add(warp, k_.number(fragment * kFragmentRows)), k_.rem(row, k_.number(kFragmentRows)));
    };
    for (uint32_t column = 0; column < 2 * columnPairs_; ++column)
      for (uint32_t half = 0; half < 2; ++half) {
        const Value *first = sums + 4 * (fragment * 2 * columnPairs_ + column) + 2 * half;
        Values values;
        for (uint32_t i = 0; i < 2; ++i)
          values.push_back(
              isChain ? first[i]
                      : range.orNothing(arith::MulFOp::create(k_.b, k_.loc, first[i], inverses[2 * fragment + half])));
        part.runs.push_back(
            {k_.add(inPart, k_.number(half * 8)), k_.add(pair, k_.number(column * kFragmentColumns)), values});
      }
  }
  TileSpace space(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  writeResult(output_, space, arena_, parts);
  k_.when(k_.equal(k_.rem(lane_, k_.number(4)), k_.number(0)), [&] {
    for (auto [number, sum] : llvm::enumerate(totals.sums))
      storeLogSum(kernel_, space,
                  k_.add(k_.add(tile_.firstRow, firstRow_), k_.add(k_.div(lane_, k_.number(4)), k_.number(8 * number))),
                  totals.references[number], sum);
  });
}

/// Where a loop for whole blocks and one for others take no more registers than one that asks, nothing is asked.
TensorCoreAttention::Values TensorCoreAttention::blocks(const KeyRange &range, Values carried) {
  auto loop = [&](Value first, Value last, std::optional<bool> isWhole) {
    carried = k_.loop(first, last, k_.number(shape_.keys), carried,
                      [&](Value firstKey, ValueRange inside) { return block(range, isWhole, firstKey, inside); });
  };
  const bool asks = kernel_.attention.isChain || shape_.columns > (range.mayHide() ? kFewColumns : kManyColumns);
  if (asks) {
    loop(range.first(), range.last(), std::nullopt);
    return carried;
  }
  for (const KeyRange::Segment &segment : range.segments())
    loop(segment.first, segment.last, segment.isWhole);
  return carried;
}

void TensorCoreAttention::part() {
  Bodies::Scope scope(kernel_.bodies);
  const KeyRange range(kernel_, inner_.front().kernel, tile_, shape_.rows, shape_.keys);
  bringQueries();
  k_.when(k_.less(range.first(), range.last()), [&] { bringKeys(range.first()); });
  core_.closeGroup();
  Values start = kernel_.attention.isChain ? Values() : softmax_.start();
  start.append(fragments_ * columnPairs_ * 8, neutral(k_, output_.product.sum.sum));
  const Values carried = blocks(range, start);
  core_.waitForGroups(0);
  write(range, carried);
}

void TensorCoreAttention::run() {
  k_.wantResident(2); // one computes while the other waits
  arena_ = shape_.isDynamic() ? k_.dynamicShared() : k_.shared(k_.b.getI8Type(), tensorCoreAttentionBytes(shape_), 128);
  uint32_t used = 0;
  for (Inner &inner : inner_) {
    inner.queries = inArena(used);
    used += bytesOf(inner.depth, shape_.rows);
  }
  for (Inner &inner : inner_) {
    inner.keys = inArena(used);
    used += bytesOf(inner.depth, shape_.keys);
  }
  values_ = inArena(used);
  const AttentionTile tile = tileOf(kernel_, k_.block());
  tile_ = tile;
  lane_ = k_.rem(k_.thread(), k_.number(32));
  firstRow_ = k_.mul(k_.div(k_.thread(), k_.number(32)), k_.number(fragments_ * kFragmentRows));
  if (kernel_.rows == shape_.rows)
    return part();
  k_.loop(k_.number(0), k_.number(kernel_.rows), k_.number(shape_.rows), {}, [&](Value first, ValueRange) {
    tile_.firstRow = k_.add(tile.firstRow, first);
    TileSpace space(output_, tile.inBatch, tile_.firstRow, k_.number(0));
    k_.when(k_.less(tile_.firstRow, space.rows()), [&] {
      part();
      k_.barrier(); // everybody has read what was in shared memory
    });
    return Values();
  });
}

} // namespace

TensorCoreAttentionShape TensorCoreAttentionShape::of(uint32_t rows, ArrayRef<uint32_t> depths, uint32_t columns,
                                                      bool isChain) {
  TensorCoreAttentionShape shape{rows, kManyKeys, llvm::to_vector<2>(depths), columns};
  if (rows <= kPartRows)
    return shape;
  const bool isDeep = std::max(llvm::max_element(depths)[0], columns) > 128;
  // Scores of two products take the registers of more rows.
  if (isDeep || depths.size() > 1 || (isChain && shape.isDynamic()))
    shape.rows = kPartRows;
  else if (shape.isDynamic())
    shape.keys = kFewKeys;
  return shape;
}

bool TensorCoreAttentionShape::isDynamic() const {
  return isLaunch || tensorCoreAttentionBytes(*this) > kStaticSharedBytes;
}

uint32_t tensorCoreAttentionBytes(const TensorCoreAttentionShape &shape) {
  uint32_t operands = 2 * shape.keys * columnsOf(shape);
  for (uint32_t depth : shape.depths)
    operands += bytesOf(depth, shape.rows + shape.keys);
  return std::max(operands, stagedBytes(kPartRows, columnsOf(shape), sizeof(float)));
}

void writeTensorCoreAttention(const AttentionKernel &kernel, const TensorCoreAttentionShape &shape) {
  TensorCoreAttention(kernel, shape).run();
}

} // namespace tenon::compiler::codegen
