// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/warpgroup_twins.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static AttentionKernel withAttention(const AttentionKernel &kernel, const Attention &attention) {
  return {.kernel = kernel.kernel,
          .shape = kernel.shape,
          .attention = attention,
          .k = kernel.k,
          .space = kernel.space,
          .bodies = kernel.bodies,
          .rows = kernel.rows,
          .columns = kernel.columns};
}

WarpgroupTwins::WarpgroupTwins(ChainBlock &block)
    : block_(block), k_(block.k), first_(block.kernel.attention.parts().back()),
      kernel_(withAttention(block.kernel, first_)),
      output_(kernel_.product(first_.output, kGroupRows, block.shape.columns, block.shape.keys)),
      range_(kernel_, block.inner.front().kernel, block.tile, kWarpgroupChainRows, block.shape.keys) {
  output_.cluster = ChainBlock::kConsumers;
}

/// Runs of a thread are computed in the order of columns, the two rows of each behind each other, and each run asks for
/// its elements once: which ones they are follows from how often somebody asked.
void WarpgroupTwins::stageVectors() {
  const KernelOp &op = *block_.kernel.attention.logits;
  for (auto [number, input] : llvm::enumerate(block_.shape.vectors))
    block_.kernel.bodies.stage(op, op.inputs[input].tensor,
                               [this, vector = uint32_t(number)](const Point &) { return vectorAt(vector); });
}

WarpgroupTwins::Values WarpgroupTwins::vectorAt(uint32_t vector) {
  auto &[known, asked] = vectors_[vector];
  const uint32_t width = block_.kernel.bodies.width(), inColumn = 2 / width; // of a row
  const uint32_t column = asked / (2 * inColumn), first = 2 * column + asked % inColumn * width;
  ++asked;
  if (known.size() <= first) { // both of the column
    Value pair = k_.mul(k_.rem(block_.thread, k_.number(4)), k_.number(2));
    Value index = k_.add(pair, k_.number(int64_t(vector) * block_.shape.keys + 8 * column));
    Type f32 = k_.b.getF32Type();
    Value both = k_.load(VectorType::get(2, f32), k_.at(block_.vectorsOf(key_), f32, index), 8);
    for (uint32_t lane = 0; lane < 2; ++lane)
      known.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, both, k_.number(lane)));
  }
  return Values(known.begin() + first, known.begin() + first + width);
}

/// Left factors of the last product, from scores of a block.
WarpgroupTwins::Values WarpgroupTwins::factorsOf(const KeyRange &range, Value key, bool isWhole, const Values &scores,
                                                 const Values &seconds) {
  const SmallVector<LogitRun> byRows = runsOfGroup(k_, block_.thread, block_.rows(), key, scores, seconds);
  const size_t columns = byRows.size() / 2;
  SmallVector<LogitRun> runs;
  for (size_t column = 0; column < columns; ++column)
    for (size_t row = 0; row < 2; ++row)
      runs.push_back(byRows[row * columns + column]);
  for (auto &each : vectors_)
    each.second = 0;
  TileSpace space(block_.inner.front().kernel, block_.tile.inBatch, block_.rows(), key);
  range.computeLogits(space, runs, isWhole);
  SmallVector<Values> weights(2);
  for (auto [number, run] : llvm::enumerate(runs))
    llvm::append_range(weights[number % 2], run.scores);
  return factorsOfGroup(block_.core, weights);
}

/// Carried: the sums of the first weights, those of both, and the factors of the latter. The last two are in flight.
WarpgroupTwins::Values WarpgroupTwins::oneBlock(Value key, bool isWhole, ValueRange carried) {
  Bodies::Scope scope(block_.kernel.bodies);
  TensorCore &core = block_.core;
  StageRing &ring = block_.ring;
  key_ = key;
  vectors_.assign(block_.shape.vectors.size(), {});
  const ValueRange firstSums = carried.take_front(sums()), bothSums = carried.drop_front(sums()).take_front(sums());
  ring.waitUntilFull(block_.stepOf(key, 0));
  Values scores = block_.scoresOf(0, key);
  ring.waitUntilFull(block_.stepOf(key, 1));
  Values seconds = block_.scoresOf(1, key);
  // The factors of the block before pass through the wait: nothing takes their registers until they have been read.
  Values tied = scores;
  llvm::append_range(tied, carried.drop_front(2 * sums()));
  tied = core.waitForProducts(1, tied);
  llvm::copy(ArrayRef(tied).take_front(scores.size()), scores.begin());
  k_.when(k_.less(block_.range->first(), key), [&] {
    Value before = k_.sub(key, k_.number(block_.shape.keys));
    for (uint32_t copy = 0; copy < block_.shape.copies(); ++copy)
      block_.release(block_.stepOf(before, copy));
  });

  const Values ofFirst = factorsOf(range_, key, isWhole, scores, {});
  Values first = block_.weighted(ofFirst, key, *block_.shape.twinShared, firstSums);
  seconds = core.waitForProducts(1, seconds);
  Values ofBoth = factorsOf(*block_.range, key, isWhole, scores, seconds);
  const Values both = block_.weighted(ofBoth, key, *block_.shape.shared, bothSums);
  llvm::append_range(first, ofFirst);
  first = core.waitForProducts(1, first);
  Values after(first.begin(), first.begin() + sums());
  llvm::append_range(after, both);
  llvm::append_range(after, ofBoth);
  return after;
}

/// The sums of the first weights, then those of both.
WarpgroupTwins::Values WarpgroupTwins::allBlocks() {
  Values carried(2 * sums(), neutral(k_, output_.product.sum.sum));
  carried.append(factors(), arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(0)));
  for (const KeyRange::Segment &segment : block_.range->segments()) {
    carried = k_.loop(segment.first, segment.last, k_.number(block_.shape.keys), carried,
                      [&](Value key, ValueRange inside) { return oneBlock(key, segment.isWhole, inside); });
    carried = block_.core.waitForProducts(0, carried);
  }
  carried.truncate(2 * sums());
  return carried;
}

void WarpgroupTwins::write(const ProductKernel &output, ArrayRef<Value> sums) {
  TileSpace space(output, block_.tile.inBatch, block_.rows(), k_.number(0));
  writeGroupResult(output, space, block_.thread, block_.resultPart(), block_.shape.columns, sums);
}

void WarpgroupTwins::consume() {
  block_.bringLeft();
  stageVectors();
  const SmallVector<Type> types(2 * sums(), k_.b.getF32Type());
  const Values all = k_.choose(
      k_.less(block_.range->first(), block_.range->last()), types, [&] { return allBlocks(); },
      [&] { return Values(types.size(), neutral(k_, output_.product.sum.sum)); });
  block_.kernel.bodies.unstage();
  write(output_, ArrayRef(all).take_front(sums()));
  k_.barrier(); // the part has been read
  write(block_.output, ArrayRef(all).drop_front(sums()));
}

} // namespace tenon::compiler::codegen
