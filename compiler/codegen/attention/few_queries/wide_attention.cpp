// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/wide_attention.h"

#include "compiler/codegen/attention/few_queries/few_queries_reader.h"
#include "compiler/codegen/attention/few_queries/key_ring.h"
#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/codegen/kernel/tensor_core.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

using Shape = FewQueriesShape;
constexpr uint32_t kEight = Shape::kEight, kKeys = Shape::kKeys;
constexpr uint32_t kChains = 4; // of products that wait for each other

class WideAttention {
public:
  WideAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts *parts)
      : kernel_(kernel), shape_(shape), parts_(parts), k_(kernel.k), core_(k_, kernel.attention.tensorCoreElement()),
        scores_(kernel.product(kernel.attention.scores, shape.blockRows(), shape.stepKeys(), shape.wholeDepth())),
        output_(kernel.product(kernel.attention.output, shape.blockRows(), shape.wholeColumns(), shape.stepKeys())),
        softmax_(k_, k_.b.getF32Type(), rows(), {4, 8, 16}, /*isFast=*/true) {}

  void run();

private:
  using Values = SmallVector<Value>;
  Type f32() { return k_.b.getF32Type(); }
  uint32_t eights() const { return shape_.blockRows() / kEight; }                      // of rows
  uint32_t rows() const { return 2 * eights(); }                                       // of a lane
  uint32_t states() const { return 2 * rows(); }                                       // of softmax
  uint32_t sixteens() const { return shape_.wholeColumns() / (kKeys * shape_.warps); } // of a warp's columns
  uint32_t pitch() const { return shape_.blockRows() / 16 * 16 + 8; }                  // of logits: no bank twice
  Value constant(double value) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(float(value))); }
  Values queries();
  Values scoresOf(KeyRing &ring, Value stage, Value sixteen, ArrayRef<Value> queries);
  void leaveLogits(KeyRing &ring, const KeyRange &range, Value key, Value stage, ArrayRef<Value> queries);
  Value logitsAt(Value key, Value row);
  Values multiply(KeyRing &ring, Value stage, ValueRange carried);
  void store(const KeyRange &range, ValueRange carried);

  const AttentionKernel &kernel_;
  const FewQueriesShape shape_;
  const KeyParts *parts_;
  KernelBuilder &k_;
  TensorCore core_;
  const ProductKernel scores_, output_;
  OnlineSoftmax softmax_;
  AttentionTile tile_;
  Value number_;                      // of the tile and its group of rows
  Value rank_;                        // of the block among those of the tile's keys
  Value logits_;                      // [keys of a step][rows] in shared memory
  Value inWarp_, group_, lane_;       // of the warp's 32 lanes: eight groups of four
  Value warpRow_, slot_, warpColumn_; // what a warp has of scores' rows and keys, and of columns
};

/// Of the eight rows whose scores the warp computes.
WideAttention::Values WideAttention::queries() {
  AttentionTile ofWarp = tile_;
  ofWarp.firstRow = k_.add(tile_.firstRow, warpRow_);
  FewQueriesReader reader(scores_, output_, shape_, ofWarp, group_, lane_);
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  SmallVector<Type> words(4 * shape_.depthSteps(), k_.b.getI32Type());
  auto read = [&](bool isFast) {
    Bodies::Scope scope(kernel_.bodies);
    return reader.queryPairs(isFast);
  };
  return k_.choose(
      space.isAligned(scores_.product.left, Shape::kVector), words, [&] { return read(true); },
      [&] { return read(false); });
}

/// Of 16 keys and eight rows.
WideAttention::Values WideAttention::scoresOf(KeyRing &ring, Value stage, Value sixteen, ArrayRef<Value> queries) {
  const uint32_t parts = 2 * shape_.depthSteps();
  SmallVector<Values, kChains> chains(std::min(parts, kChains), Values(4, neutral(k_, scores_.product.sum.sum)));
  for (uint32_t part = 0; part < parts; ++part)
    chains[part % chains.size()] =
        core_.multiply(ring.keys(stage, sixteen, part), queries.slice(2 * part, 2), chains[part % chains.size()]);
  Values &scores = chains.front();
  for (const Values &chain : llvm::drop_begin(chains))
    for (auto [score, other] : llvm::zip_equal(scores, chain))
      score = arith::AddFOp::create(k_.b, k_.loc, score, other);
  return scores;
}

Value WideAttention::logitsAt(Value key, Value row) {
  return k_.at(logits_, f32(), k_.add(k_.mul(key, k_.number(pitch())), row));
}

/// What the warp computes of a step's logits, in shared memory for all.
void WideAttention::leaveLogits(KeyRing &ring, const KeyRange &range, Value key, Value stage, ArrayRef<Value> queries) {
  const uint32_t slots = shape_.warps / eights(); // warps that have the same rows
  for (uint32_t first = 0; first < shape_.sixteens; first += slots) {
    Value sixteen = k_.add(slot_, k_.number(first));
    auto leave = [&] {
      Bodies::Scope scope(kernel_.bodies);
      TileSpace space(scores_, tile_.inBatch, tile_.firstRow, key);
      SmallVector<LogitRun> runs; // [eight keys][row of the lane]
      Value inStep = k_.add(k_.mul(sixteen, k_.number(kKeys)), group_),
            row = k_.add(warpRow_, k_.mul(lane_, k_.number(2)));
      for (auto [number, score] : llvm::enumerate(scoresOf(ring, stage, sixteen, queries)))
        runs.push_back({k_.add(tile_.firstRow, k_.add(row, k_.number(number % 2))),
                        k_.add(key, k_.add(inStep, k_.number(number / 2 * kEight))),
                        {score}});
      range.computeLogits(space, key, runs);
      for (uint32_t eight = 0; eight < 2; ++eight) {
        Value pair = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(2, f32()));
        for (uint32_t of = 0; of < 2; ++of)
          pair = LLVM::InsertElementOp::create(k_.b, k_.loc, pair, runs[2 * eight + of].scores.front(), k_.number(of));
        k_.store(pair, logitsAt(k_.add(inStep, k_.number(int64_t(kEight) * eight)), row), 8);
      }
    };
    if (first + slots <= shape_.sixteens)
      leave();
    else
      k_.when(k_.less(sixteen, k_.number(shape_.sixteens)), leave);
  }
}

/// Weights of a step's keys, by the warp's columns of their values. Carried: what softmax does, of rows [eight
/// rows][2]; then the sums, [16 columns][eight rows][4].
WideAttention::Values WideAttention::multiply(KeyRing &ring, Value stage, ValueRange carried) {
  SmallVector<Values> weights(rows()); // [row of the lane][eight keys]
  for (uint32_t of = 0; of < 2 * shape_.sixteens; ++of)
    for (uint32_t eight = 0; eight < eights(); ++eight) {
      Value at = logitsAt(k_.add(group_, k_.number(int64_t(kEight) * of)),
                          k_.add(k_.mul(lane_, k_.number(2)), k_.number(int64_t(kEight) * eight)));
      Value pair = k_.load(VectorType::get(2, f32()), at, 8);
      for (uint32_t row = 0; row < 2; ++row)
        weights[2 * eight + row].push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, pair, k_.number(row)));
    }
  const OnlineSoftmax::Step step = softmax_.step(carried.take_front(states()), weights);
  Values factors; // [eight keys][eight rows]
  for (uint32_t of = 0; of < 2 * shape_.sixteens; ++of)
    for (uint32_t eight = 0; eight < eights(); ++eight)
      factors.push_back(core_.transposed(core_.pair(weights[2 * eight][of], weights[2 * eight + 1][of])));
  Values sums = softmax_.scaled(step, carried.drop_front(states()),
                                [&](size_t i) { return uint32_t(i / 4 % eights() * 2 + i % 2); });
  for (uint32_t sixteen = 0; sixteen < shape_.sixteens; ++sixteen)
    for (uint32_t part = 0; part < sixteens(); ++part) {
      const Values left = ring.values(stage, k_.number(sixteen), k_.add(warpColumn_, k_.number(int64_t(kKeys) * part)));
      for (uint32_t eight = 0; eight < eights(); ++eight) {
        Value *first = sums.begin() + 4 * (eights() * part + eight);
        const Values right = {factors[2 * sixteen * eights() + eight], factors[(2 * sixteen + 1) * eights() + eight]};
        llvm::copy(core_.multiply(left, right, ArrayRef<Value>(first, 4)), first);
      }
    }
  Values after = step.carried;
  llvm::append_range(after, sums);
  return after;
}

void WideAttention::store(const KeyRange &range, ValueRange carried) {
  const RowTotals totals = softmax_.totals(carried.take_front(states()));
  const ValueRange sums = carried.drop_front(states());
  TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  for (auto [number, value] : llvm::enumerate(sums)) {
    const uint32_t eight = number / 4 % eights(), part = number / 4 / eights(), ofLane = 2 * eight + number % 2;
    Value row = k_.add(k_.mul(lane_, k_.number(2)), k_.number(int64_t(kEight) * eight + number % 2));
    Value column = k_.add(warpColumn_, k_.add(group_, k_.number(int64_t(kKeys) * part + number % 4 / 2 * kEight)));
    const PartialSum sum{totals.references[ofLane], totals.sums[ofLane], {value}};
    if (parts_) {
      k_.when(k_.less(row, k_.number(shape_.rowsOfBlock())),
              [&] { parts_->store(k_, number_, rank_, row, column, sum); });
      continue;
    }
    Value ofAll = k_.add(tile_.firstRow, row);
    k_.when(k_.both(k_.less(column, k_.number(shape_.columns)), k_.less(ofAll, result.rows())), [&] {
      storeResult(kernel_, output_, result, ofAll, column, sum, [&](Value x) { return range.orNothing(x); });
    });
  }
}

void WideAttention::run() {
  k_.wantResident(shape_.resident());
  Value arena = k_.dynamicShared();
  logits_ = k_.shared(f32(), uint64_t(shape_.stepKeys()) * pitch());
  inWarp_ = k_.rem(k_.thread(), k_.number(32));
  Value warp = k_.div(k_.thread(), k_.number(32));
  group_ = k_.div(inWarp_, k_.number(4));
  lane_ = k_.rem(inWarp_, k_.number(4));
  warpRow_ = k_.mul(k_.rem(warp, k_.number(eights())), k_.number(kEight));
  slot_ = k_.div(warp, k_.number(eights()));
  warpColumn_ = k_.mul(warp, k_.number(int64_t(kKeys) * sixteens()));
  const uint32_t blocks = parts_ ? parts_->count : 1;
  const BlockPlace place(k_, shape_, blocks);
  rank_ = place.rank;
  number_ = place.number(k_);
  tile_ = tileOf(kernel_, place.tile);
  tile_.firstRow = k_.mul(place.group, k_.number(shape_.blockRows()));

  const KeyRange range(kernel_, scores_, tile_, shape_.blockRows(), shape_.stepKeys());
  KeyRing ring(kernel_, shape_, core_, tile_, arena, inWarp_);
  Value keys = k_.number(shape_.stepKeys());
  ring.begin(k_.add(range.first(), k_.mul(rank_, keys)), range.last(), k_.mul(keys, k_.number(blocks)));
  const Values queries = this->queries();
  Values carried = softmax_.start();
  carried.append(4 * eights() * sixteens(), neutral(k_, output_.product.sum.sum));
  carried = ring.forEachStep(carried, [&](Value key, Value stage, ValueRange sums) {
    leaveLogits(ring, range, key, stage, queries);
    k_.barrier(); // the next step begins with another, before which all have read them
    return multiply(ring, stage, sums);
  });
  store(range, carried);
}

} // namespace

void writeWideAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts *parts) {
  WideAttention(kernel, shape, parts).run();
}

} // namespace tenon::compiler::codegen
