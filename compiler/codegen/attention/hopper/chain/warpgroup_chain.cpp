// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/chain/warpgroup_chain.h"

#include "compiler/codegen/attention/hopper/chain/chain_block.h"
#include "compiler/codegen/attention/hopper/chain/warpgroup_twins.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class WarpgroupChain {
public:
  explicit WarpgroupChain(ChainBlock &block) : block_(block), k_(block.k) {}
  void consume();

private:
  using Values = ChainBlock::Values;

  SmallVector<Values, 2> scoresOf(Value key);
  void waitForScores(Value key, SmallVector<Values, 2> &scores, uint32_t pending);
  SmallVector<Values> weightsOf(ArrayRef<Values> scores, Value key, ChainBlock::Kind kind);
  Values firstBlock();
  Values nextBlock(Value key, ChainBlock::Kind kind, ValueRange carried);
  Values allBlocks();

  ChainBlock &block_;
  KernelBuilder &k_;
};

/// In flight behind the call.
SmallVector<WarpgroupChain::Values, 2> WarpgroupChain::scoresOf(Value key) {
  SmallVector<Values, 2> scores;
  for (uint32_t number = 0; number < block_.inner.size(); ++number)
    scores.push_back(block_.scoresOf(number, key));
  return scores;
}

/// Their registers may be read then, and others may take the place of what was multiplied, but for the values.
void WarpgroupChain::waitForScores(Value key, SmallVector<Values, 2> &scores, uint32_t pending) {
  Values all;
  for (const Values &each : scores)
    llvm::append_range(all, each);
  all = block_.core.waitForProducts(pending, all);
  const size_t size = scores.front().size();
  for (auto [number, each] : llvm::enumerate(scores)) {
    llvm::copy(ArrayRef(all).slice(number * size, size), each.begin());
    if (number != block_.shape.shared)
      block_.release(block_.stepOf(key, number));
  }
}

/// Of two rows.
SmallVector<WarpgroupChain::Values> WarpgroupChain::weightsOf(ArrayRef<Values> scores, Value key,
                                                              ChainBlock::Kind kind) {
  Value rows = block_.rows();
  SmallVector<LogitRun> runs = runsOfGroup(k_, block_.thread, rows, key, scores.front(),
                                           scores.size() > 1 ? ArrayRef<Value>(scores.back()) : ArrayRef<Value>());
  TileSpace space(block_.inner.front().kernel, block_.tile.inBatch, rows, key);
  block_.range->computeWeights(space, runs, kind.isWhole, kind.mayEnd);
  return rowsOfRuns(runs);
}

/// Carried: the sums of the result, then the factors of the block before.
WarpgroupChain::Values WarpgroupChain::firstBlock() {
  Bodies::Scope scope(block_.kernel.bodies);
  Value key = block_.range->first();
  for (uint32_t number = 0; number < block_.inner.size(); ++number)
    block_.ring.waitUntilFull(block_.stepOf(key, number));
  SmallVector<Values, 2> scores = scoresOf(key);
  waitForScores(key, scores, 0);
  Values carried(block_.shape.results / 2, neutral(k_, block_.output.product.sum.sum));
  llvm::append_range(carried, block_.factorsOf(weightsOf(scores, key, block_.firstKind()), key, block_.firstKind()));
  return carried;
}

WarpgroupChain::Values WarpgroupChain::nextBlock(Value key, ChainBlock::Kind kind, ValueRange carried) {
  Bodies::Scope scope(block_.kernel.bodies);
  Value before = k_.sub(key, k_.number(block_.shape.keys));
  const uint32_t sums = block_.shape.results / 2;
  for (uint32_t number = 0; number < block_.inner.size(); ++number)
    block_.ring.waitUntilFull(block_.stepOf(key, number));
  block_.awaitTurn();
  SmallVector<Values, 2> scores = scoresOf(key);
  if (!block_.shape.shared)
    block_.ring.waitUntilFull(block_.stepOf(before, block_.valueCopy()));
  const Values result = block_.weighted(carried.drop_front(sums), before, block_.valueCopy(), carried.take_front(sums));
  block_.passTurn();
  waitForScores(key, scores, 1);
  SmallVector<Values> weights = weightsOf(scores, key, kind);
  // The factors' registers are read until the product is there: new ones are written behind the wait.
  Values tied = result;
  for (const Values &row : weights)
    llvm::append_range(tied, row);
  tied = block_.core.waitForProducts(0, tied);
  block_.release(block_.stepOf(before, block_.valueCopy()));
  const size_t size = weights.front().size();
  for (auto [number, row] : llvm::enumerate(weights))
    llvm::copy(ArrayRef(tied).slice(sums + number * size, size), row.begin());
  Values after(tied.begin(), tied.begin() + sums);
  llvm::append_range(after, block_.factorsOf(weights, key, kind));
  return after;
}

/// The sums of the result.
WarpgroupChain::Values WarpgroupChain::allBlocks() {
  Value keys = k_.number(block_.shape.keys), second = k_.add(block_.range->first(), keys);
  Values carried = firstBlock();
  for (const ChainBlock::Segment &segment : block_.segments()) {
    Value from = arith::MaxSIOp::create(k_.b, k_.loc, segment.first, second);
    carried = k_.loop(from, segment.last, keys, carried,
                      [&](Value key, ValueRange inside) { return nextBlock(key, segment.kind, inside); });
  }
  Value blocks = k_.div(k_.sub(k_.sub(block_.range->last(), block_.range->first()), k_.number(1)), keys);
  Value last = k_.add(block_.range->first(), k_.mul(blocks, keys));
  if (!block_.shape.shared)
    block_.ring.waitUntilFull(block_.stepOf(last, block_.valueCopy()));
  const uint32_t sums = block_.shape.results / 2;
  const ArrayRef<Value> all = carried;
  const Values result = block_.core.waitForProducts(
      0, block_.weighted(ValueRange(all.drop_front(sums)), last, block_.valueCopy(), ValueRange(all.take_front(sums))));
  block_.releaseLast(last, block_.valueCopy());
  return result;
}

void WarpgroupChain::consume() {
  block_.bringLeft();
  const SmallVector<Type> types(block_.shape.results / 2, k_.b.getF32Type());
  const Values sums = k_.choose(
      k_.less(block_.range->first(), block_.range->last()), types, [&] { return allBlocks(); },
      [&] { return Values(types.size(), neutral(k_, block_.output.product.sum.sum)); });
  Value rows = block_.rows();
  TileSpace space(block_.output, block_.tile.inBatch, rows, k_.number(0));
  writeGroupResult(block_.output, space, block_.thread, block_.resultPart(), block_.shape.results, sums);
}

} // namespace

uint32_t warpgroupChainBytes(const WarpgroupChainShape &shape) {
  return ChainBlock::bytes(shape);
}

void writeWarpgroupChain(const AttentionKernel &kernel, const WarpgroupChainShape &shape, ValueRange tensorMaps) {
  ChainBlock block(kernel, shape, tensorMaps);
  if (kernel.attention.twin)
    return block.run([&] { WarpgroupTwins(block).consume(); });
  block.run([&] { WarpgroupChain(block).consume(); });
}

} // namespace tenon::compiler::codegen
