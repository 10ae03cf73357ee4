// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/chain/warpgroup_twins.h"

using namespace mlir;

namespace tenon::compiler::codegen {

WarpgroupTwins::WarpgroupTwins(ChainBlock &block)
    : block_(block), k_(block.k), first_(block.kernel.attention.parts().back()), kernel_(block.kernel.with(first_)),
      output_(kernel_.product(first_.output, kGroupRows, block.shape.columns, block.shape.keys)),
      range_(kernel_, block.inner.front().kernel, block.tile, kWarpgroupChainRows, block.shape.keys,
             /*isOfHead=*/true) {
  output_.cluster = ChainBlock::kConsumers;
  if (block.shape.acrossMap)
    across_.emplace(block);
  if (block.shape.keptMap)
    kept_.emplace(block);
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

/// Weights of two rows.
SmallVector<WarpgroupTwins::Values> WarpgroupTwins::weightsOf(const KeyRange &range, Value key, ChainBlock::Kind kind,
                                                              const Values &scores, const Values &seconds) {
  Value first = block_.inAllHeads(key);
  const SmallVector<LogitRun> byRows = runsOfGroup(k_, block_.thread, block_.rows(), first, scores, seconds);
  const size_t columns = byRows.size() / 2;
  SmallVector<LogitRun> runs;
  for (size_t column = 0; column < columns; ++column)
    for (size_t row = 0; row < 2; ++row)
      runs.push_back(byRows[row * columns + column]);
  for (auto &each : vectors_)
    each.second = 0;
  TileSpace space(block_.inner.front().kernel, block_.tile.inBatch, block_.rows(), first);
  if (across_) // weights of both consumers are exchanged
    range.computeLogits(space, runs, kind.isWhole);
  else
    range.computeWeights(space, runs, kind.isWhole, kind.mayEnd);
  SmallVector<Values> weights(2);
  for (auto [number, run] : llvm::enumerate(runs))
    llvm::append_range(weights[number % 2], run.scores);
  return weights;
}

/// Scores of the first product, and where `carried` has factors of the block before, what those add to both results;
/// then, in the registers that these leave, scores of the second, and the factors of this block.
/// Carried: the sums of the first weights, those of both, the factors of the first, those of both.
WarpgroupTwins::Values WarpgroupTwins::oneBlock(Value key, ChainBlock::Kind kind, ValueRange carried) {
  Bodies::Scope scope(block_.kernel.bodies);
  TensorCore &core = block_.core;
  key_ = key;
  vectors_.assign(block_.shape.vectors.size(), {});
  const bool isFirst = carried.size() == 2 * sums();
  Values scores, results = llvm::to_vector(carried.take_front(2 * sums()));
  if (across_ && !isFirst)
    results = addedUp(key, carried);
  block_.ring.waitUntilFull(block_.stepOf(key, 0));
  if (!across_ && !isFirst)
    block_.awaitTurn();
  scores = block_.scoresOf(0, key);
  if (!across_ && !isFirst) {
    Value before = k_.sub(key, k_.number(block_.shape.keys));
    results = multiplied(before, carried);
    block_.passTurn();
    if (kept_)
      kept_->store(before);
    llvm::append_range(results, scores);
    results = core.waitForProducts(0, results);
    scores.assign(results.begin() + 2 * sums(), results.end());
    results.truncate(2 * sums());
    releaseAll(before);
  } else if (!across_) {
    scores = core.waitForProducts(0, scores);
  }
  block_.ring.waitUntilFull(block_.stepOf(key, 1));
  Values seconds = block_.scoresOf(1, key);
  if (across_)
    scores = core.waitForProducts(1, scores);
  const SmallVector<Values> first = weightsOf(range_, key, kind, scores, {});
  seconds = core.waitForProducts(0, seconds);
  const SmallVector<Values> both = weightsOf(*block_.range, key, kind, scores, seconds);
  auto factorsOf = [&](ArrayRef<Values> weights) {
    return across_ ? factorsOfGroup(core, weights) : block_.factorsOf(weights, key, kind);
  };
  llvm::append_range(results, factorsOf(first));
  const Values factors = factorsOf(both);
  llvm::append_range(results, factors);
  if (across_)
    across_->put(across_->at(key), both);
  if (kept_)
    kept_->put(key, factors);
  return results;
}

void WarpgroupTwins::releaseAll(Value key) {
  for (uint32_t copy = 0; copy < block_.shape.copies(); ++copy)
    block_.release(block_.stepOf(key, copy));
}

/// Of triplets: the turn before a block, in which no scores are asked for: three sums leave no registers for them.
WarpgroupTwins::Values WarpgroupTwins::addedUp(Value key, ValueRange carried) {
  Value before = k_.sub(key, k_.number(block_.shape.keys));
  const AcrossSums::Block late = across_->before(key);
  across_->awaitPart();
  block_.awaitTurn();
  Values results = multiplied(before, carried), parts = across_->multiplied(late);
  block_.passTurn();
  llvm::append_range(results, parts);
  results = block_.core.waitForProducts(0, results);
  parts = llvm::to_vector(ArrayRef<Value>(results).take_back(parts.size()));
  results.truncate(2 * sums());
  releaseAll(before);
  across_->add(late, parts);
  return results;
}

/// Both results with what a block adds to them, in flight behind the call.
WarpgroupTwins::Values WarpgroupTwins::multiplied(Value key, ValueRange carried) {
  const ValueRange factors = carried.drop_front(2 * sums());
  const size_t each = factors.size() / 2;
  Values results = block_.weighted(factors.take_front(each), key, *block_.shape.twinShared, carried.take_front(sums()));
  llvm::append_range(results, block_.weighted(factors.drop_front(each), key, *block_.shape.shared,
                                              carried.drop_front(sums()).take_front(sums())));
  return results;
}

/// Blocks of a head; the first of all is computed already.
WarpgroupTwins::Values WarpgroupTwins::blocksOfHead(ValueRange before) {
  Value keys = k_.number(block_.shape.keys), first = block_.range->first(), second = k_.add(first, keys);
  if (block_.kernel.attention.heads())
    second = k_.select(k_.equal(block_.head, k_.number(0)), second, first);
  Values carried = llvm::to_vector(before);
  for (const ChainBlock::Segment &segment : block_.segments()) {
    Value from = arith::MaxSIOp::create(k_.b, k_.loc, segment.first, second);
    carried = k_.loop(from, segment.last, keys, carried,
                      [&](Value key, ValueRange inside) { return oneBlock(key, segment.kind, inside); });
  }
  return carried;
}

/// The sums of the first weights, then those of both.
WarpgroupTwins::Values WarpgroupTwins::allBlocks() {
  Value keys = k_.number(block_.shape.keys), first = block_.range->first();
  Values carried = oneBlock(first, block_.firstKind(), Values(2 * sums(), neutral(k_, output_.product.sum.sum)));
  if (block_.kernel.attention.heads()) {
    carried = k_.loop(k_.number(0), block_.heads(), k_.number(1), carried, [&](Value head, ValueRange inside) {
      block_.head = head;
      return blocksOfHead(inside);
    });
    block_.head = k_.sub(block_.heads(), k_.number(1)); // of the last block
  } else {
    carried = blocksOfHead(carried);
  }
  Value blocks = k_.div(k_.sub(k_.sub(block_.range->last(), first), k_.number(1)), keys);
  return lastBlock(k_.add(first, k_.mul(blocks, keys)), carried);
}

/// What the last block of keys adds to all sums.
WarpgroupTwins::Values WarpgroupTwins::lastBlock(Value key, ValueRange carried) {
  if (!across_) {
    Values results = multiplied(key, carried);
    if (kept_)
      kept_->store(key);
    results = block_.core.waitForProducts(0, results);
    block_.releaseLast(key, llvm::to_vector(llvm::seq(block_.shape.copies())));
    return results;
  }
  across_->awaitPart();
  block_.meetConsumers(); // weights of both are there
  const AcrossSums::Block last = across_->at(key);
  Values results = multiplied(key, carried), parts = across_->multiplied(last);
  llvm::append_range(results, parts);
  results = block_.core.waitForProducts(0, results);
  across_->add(last, ArrayRef<Value>(results).take_back(parts.size()));
  results.truncate(2 * sums());
  across_->addLate(last);
  block_.meetConsumers(); // what is exchanged has been read: results are written through the same memory
  return results;
}

void WarpgroupTwins::write(const ProductKernel &output, ArrayRef<Value> sums) {
  TileSpace space(output, block_.tile.inBatch, block_.rows(), k_.number(0));
  writeGroupResult(output, space, block_.thread, block_.resultPart(), block_.shape.results, sums);
}

void WarpgroupTwins::consume() {
  if (across_)
    across_->clear();
  block_.bringLeft();
  if (across_)
    block_.meetConsumers(); // left factors of both are there
  stageVectors();
  const SmallVector<Type> types(2 * sums(), k_.b.getF32Type());
  const Values all = k_.choose(
      k_.less(block_.range->first(), block_.range->last()), types, [&] { return allBlocks(); },
      [&] { return Values(types.size(), neutral(k_, output_.product.sum.sum)); });
  block_.kernel.bodies.unstage();
  if (kept_)
    kept_->finish();
  write(output_, ArrayRef(all).take_front(sums()));
  k_.barrier(); // the part has been read
  write(block_.output, ArrayRef(all).drop_front(sums()));
  if (kept_)
    block_.meetConsumers(); // weights of the next tile go through the same memory
}

} // namespace tenon::compiler::codegen
