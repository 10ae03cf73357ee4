// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/key_block.h"

#include "compiler/codegen/kernel/combine.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr uint32_t kRows = FewQueriesShape::kRows, kEight = FewQueriesShape::kEight,
                          kKeys = FewQueriesShape::kKeys, kVector = FewQueriesShape::kVector;

KeyBlock::KeyBlock(const AttentionKernel &kernel, const FewQueriesShape &shape)
    : kernel_(kernel), shape_(shape), eights_(shape.eights()), k_(kernel.k),
      core_(k_, kernel.attention.tensorCoreElement()),
      scores_(kernel.product(kernel.attention.scores, kRows, kKeys, shape.wholeDepth())),
      output_(kernel.product(kernel.attention.output, kRows, shape.wholeColumns(), kKeys)),
      softmax_(k_, k_.b.getF32Type(), 2 * eights_, {4, 8, 16}, /*isFast=*/true) {}

void KeyBlock::place(const AttentionTile &tile, Value warpRow, Value group, Value lane) {
  tile_ = tile;
  warpRow_ = warpRow;
  group_ = group;
  lane_ = lane;
}

SmallVector<Type> KeyBlock::carriedTypes() {
  return SmallVector<Type>(states() + sums(), k_.b.getF32Type());
}

/// Of 16 keys and eight rows: [eight keys][row of the lane].
KeyBlock::Values KeyBlock::scoresOf(ArrayRef<Values> left, ArrayRef<Value> queries, uint32_t eight) {
  // Two chains: products of one wait for each other.
  SmallVector<Values, 2> chains(std::min(shape_.depthSteps(), 2u), Values(4, neutral(k_, scores_.product.sum.sum)));
  for (auto [part, keys] : llvm::enumerate(left)) {
    Values &scores = chains[part / 2 % 2];
    scores = core_.multiply(keys, queries.slice(4 * (eights_ * (part / 2) + eight) + part % 2 * 2, 2), scores);
  }
  Values &scores = chains.front();
  for (const Values &chain : llvm::drop_begin(chains))
    for (auto [score, other] : llvm::zip_equal(scores, chain))
      score = arith::AddFOp::create(k_.b, k_.loc, score, other);
  return scores;
}

KeyBlock::Values KeyBlock::add(const KeyRange &range, ArrayRef<Value> queries, Value key, const Factors &read,
                               ValueRange carried) {
  Bodies::Scope scope(kernel_.bodies);
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, key);
  SmallVector<LogitRun> runs; // [16 keys][eight rows][eight keys][row of the lane]
  for (uint32_t sixteen = 0; sixteen < shape_.sixteens; ++sixteen) {
    SmallVector<Values> left;
    for (uint32_t part = 0; part < 2 * shape_.depthSteps(); ++part)
      left.push_back(read.keys(sixteen, part));
    for (uint32_t eight = 0; eight < eights_; ++eight)
      for (auto [number, score] : llvm::enumerate(scoresOf(left, queries, eight)))
        runs.push_back({k_.add(tile_.firstRow, rowOf(eight, number % 2)),
                        k_.add(key, k_.add(group_, k_.number(kKeys * sixteen + number / 2 * kEight))),
                        {score}});
  }
  range.computeLogits(space, key, runs);
  SmallVector<Values> weights(states() / 2);
  for (auto [number, run] : llvm::enumerate(runs))
    weights[number / 4 % eights_ * 2 + number % 2].push_back(run.scores.front());
  const OnlineSoftmax::Step step = softmax_.step(carried.take_front(states()), weights);
  for (Values &ofRow : weights)
    for (size_t eight = 0; eight < read.scales.size(); ++eight)
      ofRow[eight] = ScaledIntegers::scaled(k_, ofRow[eight], read.scales[eight]);
  // A lane has two rows of a key: what multiplies values is two keys of a row.
  Values factors; // [eight keys][eight rows]
  for (uint32_t of = 0; of < 2 * shape_.sixteens; ++of)
    for (uint32_t eight = 0; eight < eights_; ++eight)
      factors.push_back(core_.transposed(core_.pair(weights[2 * eight][of], weights[2 * eight + 1][of])));
  Values result = softmax_.scaled(step, carried.drop_front(states()),
                                  [&](size_t i) { return uint32_t(i / 4 % eights_ * 2 + i % 2); });
  for (uint32_t sixteen = 0; sixteen < shape_.sixteens; ++sixteen)
    for (uint32_t part = 0; part < shape_.wholeColumns() / kKeys; ++part) {
      const Values left = read.values(sixteen, part);
      for (uint32_t eight = 0; eight < eights_; ++eight) {
        Value *first = result.begin() + 4 * (eights_ * part + eight);
        const Values right = {factors[2 * sixteen * eights_ + eight], factors[(2 * sixteen + 1) * eights_ + eight]};
        llvm::copy(core_.multiply(left, right, ArrayRef<Value>(first, 4)), first);
      }
    }
  Values after = step.carried;
  llvm::append_range(after, result);
  return after;
}

KeyBlock::Values KeyBlock::add(const KeyRange &range, ArrayRef<Value> queries, Value key,
                               const FewQueriesReader::Block &read, ValueRange carried) {
  const ArrayRef<Value> words = read.words, values = words.drop_front(keyWords());
  auto ofKeys = [&](uint32_t, uint32_t part) -> Values {
    const ArrayRef<Value> first = words.slice(2 * part, 2), second = words.slice(4 * shape_.depthSteps() + 2 * part, 2);
    return {first[0], second[0], first[1], second[1]};
  };
  auto ofValues = [&](uint32_t, uint32_t part) -> Values {
    const uint32_t column = part / (kVector / 2), two = part % (kVector / 2);
    auto wordOf = [&](uint32_t key) { return values[4 * (key * shape_.columnSteps() + column) + two]; };
    return {core_.halves(wordOf(0), wordOf(1), false), core_.halves(wordOf(0), wordOf(1), true),
            core_.halves(wordOf(2), wordOf(3), false), core_.halves(wordOf(2), wordOf(3), true)};
  };
  return add(range, queries, key, Factors{ofKeys, ofValues, read.scales}, carried);
}

KeyBlock::Values KeyBlock::start() {
  Values carried = softmax_.start();
  carried.append(sums(), neutral(k_, output_.product.sum.sum));
  return carried;
}

Value KeyBlock::rowOf(uint32_t eight, uint32_t of) {
  Value row = k_.add(k_.mul(lane_, k_.number(2)), k_.number(int64_t(kEight) * eight + of));
  return shape_.isShared() ? k_.add(warpRow_, row) : row;
}

SmallVector<PartialSum> KeyBlock::sumsOf(ArrayRef<Value> carried) {
  const RowTotals totals = softmax_.totals(carried.take_front(states()));
  const ArrayRef<Value> sums = carried.drop_front(states());
  SmallVector<PartialSum> rows;
  for (uint32_t row = 0; row < states() / 2; ++row) {
    PartialSum &sum = rows.emplace_back(PartialSum{totals.references[row], totals.sums[row], {}});
    for (uint32_t column = 0; column < shape_.columnSteps() * kVector; ++column)
      sum.values.push_back(sums[4 * (eights_ * (column / 2) + row / 2) + column % 2 * 2 + row % 2]);
  }
  return rows;
}

} // namespace tenon::compiler::codegen
