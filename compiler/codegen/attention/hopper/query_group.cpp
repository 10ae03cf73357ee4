// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/query_group.h"

#include "compiler/codegen/attention/hiding.h"
#include "compiler/codegen/attention/hopper/part_results.h"
#include "compiler/codegen/contraction/operands/operand_tile.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Who passes a turn, and who takes it.
constexpr uint32_t kTurnThreads = 2 * kGroupThreads;
// That are on their way before the product is waited for: three consumers have no registers for them.
constexpr uint32_t kEarlyExponentials = 8;

} // namespace

QueryGroup::QueryGroup(WarpgroupBlock &block)
    : block_(block), k_(block.k), mayPass_(block.mayPass()),
      isPlain_(isPlain(block.kernel.shape, block.kernel.attention, block.kernel.rows)),
      takesTurns_(isPlain_ && !block.shape.isAlone()),
      softmax_(k_, block.core, block.kernel.attention.tensorCoreElement().isF16(),
               block.shape.consumers == 3 ? 0 : kEarlyExponentials),
      online_(k_, k_.b.getF32Type(), OptimisticSoftmax::kRows, {1, 2}, /*isFast=*/true) {}

Value QueryGroup::rowsOf(const AttentionTile &tile) {
  return k_.add(tile.firstRow, k_.mul(block_.group, k_.number(kGroupRows)));
}

void QueryGroup::askForQueries(Value round) {
  const TileOrder::Turn turn = block_.order.turn(round);
  k_.when(turn.exists, [&] {
    Bodies::Scope scope(block_.kernel.bodies);
    TileSpace space(block_.scores, turn.tile.inBatch, rowsOf(turn.tile), k_.number(0));
    OperandTile tile(block_.scores, space, block_.core, block_.scores.product.left);
    Value base = block_.queriesOf(round);
    auto bring = [&](bool isFast) {
      for (uint32_t part = 0; part < block_.depthTiles(); ++part)
        tile.bring(block_.inArena(k_.add(base, k_.number(int64_t(part) * kGroupRows * 128))), k_.number(part), isFast);
    };
    k_.branch(tile.isAligned(), [&] { bring(true); }, [&] { bring(false); });
  });
  block_.core.closeGroup();
}

/// Where there is place for those of one tile: its scores are there.
void QueryGroup::askForNext(Value round) {
  if (block_.hasNextQueries())
    return;
  k_.barrier(); // those of this round have been read
  askForQueries(k_.add(round, k_.number(1)));
}

/// Nobody has, in a round in which the block had no tile.
void QueryGroup::askBehindNone(Value round) {
  Value isFirst = k_.equal(round, k_.number(0));
  Value before = block_.order.turn(k_.select(isFirst, round, k_.sub(round, k_.number(1)))).exists;
  k_.branch(arith::OrIOp::create(k_.b, k_.loc, isFirst, before), [] {}, [&] { askForQueries(round); });
}

QueryGroup::Values QueryGroup::scoresOf(const Tile &tile, Value step) {
  return block_.core.multiplyTiles(descriptorOf(tile.queries, 16), descriptorOf(block_.slotOf(step), 16),
                                   block_.shape.depth, kGroupRows * 128, block_.keys() * 128, block_.keys());
}

QueryGroup::Values QueryGroup::weighted(ArrayRef<Value> factors, Value step, ValueRange sums) {
  return block_.core.multiplyRegisters(factors, descriptorOf(block_.slotOf(step), block_.keys() * 128), 16 * 128,
                                       block_.shape.columns, sums);
}

SmallVector<LogitRun> QueryGroup::runsOf(const Tile &tile, const Values &scores, Value firstKey) {
  return runsOfGroup(k_, block_.thread, tile.rows, firstKey, scores);
}

void QueryGroup::release(Value step) {
  block_.ring.emptyBy(block_.isFirst, step);
}

void QueryGroup::awaitTurn() {
  if (!takesTurns_)
    return;
  k_.assembly("bar.sync $0, " + std::to_string(kTurnThreads) + ";",
              {k_.word(k_.add(block_.group, k_.number(block_.firstTurn())))}, "r");
}

void QueryGroup::passTurn() {
  if (!takesTurns_)
    return;
  const uint32_t last = block_.shape.consumers - 1;
  Value next = k_.select(k_.equal(block_.group, k_.number(last)), k_.number(0), k_.add(block_.group, k_.number(1)));
  k_.assembly("bar.arrive $0, " + std::to_string(kTurnThreads) + ";",
              {k_.word(k_.add(next, k_.number(block_.firstTurn())))}, "r");
}

/// The step is not for this consumer. It has to be there: who released it sooner would be counted for the step that was
/// in its place before. And all warps have to have seen it: no product keeps them together here, and one that stayed
/// behind would wait for a round of the barrier that is long over. (On an H100 the kernel hung without.)
void QueryGroup::pass(Value step) {
  block_.ring.waitUntilFull(step);
  k_.barrier();
  release(step);
}

/// Keys of these blocks, and values of those in front of them.
void QueryGroup::passBlocks(const Tile &tile, Value first, Value last) {
  k_.loop(first, last, k_.number(1), {}, [&](Value number, ValueRange) {
    Value ofValues = k_.add(tile.firstStep, k_.mul(number, k_.number(2)));
    awaitTurn();
    passTurn();
    pass(k_.sub(ofValues, k_.number(1)));
    pass(ofValues);
    return SmallVector<Value>();
  });
}

/// Up to the keys of the first block that is seen.
void QueryGroup::passInFront(const Tile &tile) {
  if (!mayPass_)
    return;
  k_.when(k_.less(k_.number(0), tile.blocks.first), [&] {
    pass(tile.firstStep);
    passBlocks(tile, k_.number(1), tile.blocks.first);
  });
}

/// finish(step) multiplies the values of the last block that is seen. Other blocks may follow it.
QueryGroup::Values QueryGroup::passBehind(const Tile &tile, llvm::function_ref<Values(Value)> finish) {
  const Blocks &blocks = tile.blocks;
  auto lastStep = [&] { return k_.add(tile.firstStep, k_.sub(k_.mul(blocks.count, k_.number(2)), k_.number(1))); };
  if (!mayPass_)
    return finish(lastStep());
  Value isBehind = k_.less(blocks.last, blocks.count);
  Value ofValues = k_.add(tile.firstStep, k_.mul(blocks.last, k_.number(2)));
  k_.when(isBehind, [&] {
    awaitTurn();
    passTurn();
    pass(k_.sub(ofValues, k_.number(1)));
  });
  Values result = finish(k_.select(isBehind, ofValues, lastStep()));
  k_.when(isBehind, [&] {
    passBlocks(tile, k_.add(blocks.last, k_.number(1)), blocks.count);
    pass(lastStep());
  });
  return result;
}

void QueryGroup::passAll(const Tile &tile) {
  k_.when(k_.less(k_.number(0), tile.blocks.count), [&] {
    pass(tile.firstStep);
    passBlocks(tile, k_.number(1), tile.blocks.count);
    pass(k_.add(tile.firstStep, k_.sub(k_.mul(tile.blocks.count, k_.number(2)), k_.number(1))));
  });
}

/// Carried: what softmax does, the sums of the result, and the factors of the block before.
QueryGroup::Values QueryGroup::firstBlock(const Tile &tile) {
  Bodies::Scope scope(block_.kernel.bodies);
  Value step = tile.firstStep;
  if (mayPass_) // keys of a block other than the first come in front of the values before it
    step = k_.select(k_.equal(tile.blocks.first, k_.number(0)), step,
                     k_.add(step, k_.sub(k_.mul(tile.blocks.first, k_.number(2)), k_.number(1))));
  block_.ring.waitUntilFull(step);
  const Values scores = block_.core.waitForProducts(0, scoresOf(tile, step));
  release(step);
  SmallVector<LogitRun> runs = runsOf(tile, scores, tile.range.first());
  TileSpace space(block_.scores, tile.at.inBatch, tile.rows, tile.range.first());
  tile.range.computeLogits(space, tile.range.first(), runs);
  SmallVector<Values> rows = rowsOfRuns(runs);
  Values carried, factors;
  if (isPlain_) {
    const OptimisticSoftmax::Step step = softmax_.first(rows, 1);
    carried = step.carried;
    factors = step.factors;
  } else {
    carried = online_.step(online_.start(), rows).carried;
    factors = factorsOfGroup(block_.core, rows);
  }
  carried.append(sums(), neutral(k_, block_.output.product.sum.sum));
  llvm::append_range(carried, factors);
  return carried;
}

QueryGroup::Values QueryGroup::nextBlock(const Tile &tile, Value key, bool isWhole, ValueRange carried) {
  Bodies::Scope scope(block_.kernel.bodies);
  Value number = k_.div(k_.sub(key, tile.range.first()), k_.number(block_.keys()));
  if (mayPass_)
    number = k_.add(number, tile.blocks.first);
  Value ofValues = k_.add(tile.firstStep, k_.mul(number, k_.number(2))), ofKeys = k_.sub(ofValues, k_.number(1));
  const ValueRange state = carried.take_front(states()), before = carried.drop_front(states()).take_front(sums());
  const Values factors = llvm::to_vector(carried.drop_front(states() + sums()));
  block_.ring.waitUntilFull(ofKeys);
  awaitTurn();
  Values scores = scoresOf(tile, ofKeys);
  block_.ring.waitUntilFull(ofValues);
  const Values result = weighted(factors, ofValues, before);
  passTurn();
  scores = block_.core.waitForProducts(1, scores);
  release(ofKeys);

  SmallVector<LogitRun> runs = runsOf(tile, scores, key);
  TileSpace space(block_.scores, tile.at.inBatch, tile.rows, key);
  const double scale = tile.range.computeLogits(space, runs, isWhole);
  // The factors' registers are read until the product is there: new ones are written behind the wait.
  auto wait = [&](ValueRange tied) {
    Values waited = block_.core.waitForProducts(0, tied);
    release(ofValues);
    return waited;
  };
  SmallVector<Values> rows = rowsOfRuns(runs);
  Values after, scaled, next;
  if (isPlain_) {
    const OptimisticSoftmax::Step step = softmax_.next(state, rows, scale, [&] { return wait(result); }, scaled);
    after = step.carried;
    next = step.factors;
  } else {
    const OnlineSoftmax::Step step = online_.step(state, rows, scale);
    after = step.carried;
    Values tied = result;
    for (const Values &row : rows)
      llvm::append_range(tied, row);
    tied = wait(tied);
    const ArrayRef<Value> all = tied;
    const size_t each = rows.front().size();
    for (auto [number, row] : llvm::enumerate(rows))
      llvm::copy(all.slice(result.size() + number * each, each), row.begin());
    scaled =
        online_.scaled(step, ValueRange(all.take_front(result.size())), [](size_t i) { return uint32_t(i % 4 / 2); });
    next = factorsOfGroup(block_.core, rows);
  }
  llvm::append_range(after, scaled);
  llvm::append_range(after, next);
  return after;
}

QueryGroup::Values QueryGroup::allBlocks(const Tile &tile) {
  const KeyRange &range = tile.range;
  Value keys = k_.number(block_.keys()), second = k_.add(range.first(), keys);
  passInFront(tile);
  Values carried = firstBlock(tile);
  if (mayPass_)
    k_.when(k_.less(k_.number(0), tile.blocks.first), [&] {
      awaitTurn();
      passTurn();
      pass(k_.add(tile.firstStep, k_.mul(tile.blocks.first, k_.number(2))));
    });
  for (const KeyRange::Segment &segment : range.segments()) {
    Value from = arith::MaxSIOp::create(k_.b, k_.loc, segment.first, second);
    carried = k_.loop(from, segment.last, keys, carried,
                      [&](Value key, ValueRange inside) { return nextBlock(tile, key, segment.isWhole, inside); });
  }
  askForNext(tile.round);
  const ArrayRef<Value> all = carried;
  const Values result = passBehind(tile, [&](Value step) {
    block_.ring.waitUntilFull(step);
    const Values sum = block_.core.waitForProducts(
        0, weighted(all.drop_front(states() + sums()), step, ValueRange(all.drop_front(states()).take_front(sums()))));
    release(step);
    return sum;
  });
  Values end(all.begin(), all.begin() + states());
  llvm::append_range(end, result);
  return end;
}

void QueryGroup::write(const Tile &tile, ArrayRef<Value> carried) {
  const ValueRange state(carried.take_front(states()));
  const RowTotals totals = isPlain_ ? softmax_.totals(state) : online_.totals(state);
  if (block_.parts) {
    const Values exact = isPlain_ ? softmax_.toReferences(state) : Values();
    return leavePart(tile, totals, exact, carried.drop_front(states()));
  }
  const Values inverses = totals.inverses(k_, block_.kernel.attention.hiddenIsZero);
  Values values;
  for (auto [i, sum] : llvm::enumerate(carried.drop_front(states())))
    values.push_back(tile.range.orNothing(arith::MulFOp::create(k_.b, k_.loc, sum, inverses[i % 4 / 2])));
  Value arena = block_.resultPart();
  TileSpace space(block_.output, tile.at.inBatch, tile.rows, k_.number(0));
  writeGroupLogSums(block_.kernel, space, block_.thread, totals);
  writeGroupResult(block_.output, space, block_.thread, arena, block_.shape.columns, values);
}

/// What the kernel behind adds up (part_results.h), of rows that are there.
/// @param factors of what is summed of each row; none: 1
void QueryGroup::leavePart(const Tile &tile, const RowTotals &totals, ArrayRef<Value> factors, ArrayRef<Value> sums) {
  const KeyParts &parts = *block_.parts;
  TileSpace space(block_.output, tile.at.inBatch, tile.rows, k_.number(0));
  Value number = PartResults::tileOf(block_.kernel, tile.at), first = k_.mul(block_.group, k_.number(kGroupRows));
  auto scaled = [&](size_t half, Value value) -> Value {
    return factors.empty() ? value : arith::MulFOp::create(k_.b, k_.loc, value, factors[half]).getResult();
  };
  const SmallVector<LogitRun> runs = runsOfGroup(k_, block_.thread, k_.number(0), k_.number(0), sums);
  const size_t each = runs.size() / 2;
  for (size_t half = 0; half < 2; ++half) {
    const ArrayRef<LogitRun> ofRow = ArrayRef<LogitRun>(runs).slice(half * each, each);
    Value row = ofRow.front().row;
    k_.when(k_.less(k_.add(tile.rows, row), space.rows()), [&] {
      Value line = parts.lineAt(k_, number, tile.at.part, k_.add(first, row));
      auto at = [&](Value column) { return k_.at(line, k_.b.getF32Type(), column); };
      for (const LogitRun &run : ofRow)
        storeVector(k_, llvm::map_to_vector(run.scores, [&](Value sum) { return scaled(half, sum); }), at(run.key));
      k_.when(k_.equal(ofRow.front().key, k_.number(0)), [&] {
        storeVector(k_, {totals.references[half], scaled(half, totals.sums[half])}, at(k_.number(parts.columns)));
      });
    });
  }
}

void QueryGroup::computeTile(Value round, const AttentionTile &at, const KeyRange &range, Value firstStep) {
  Value zero = k_.number(0), keys = k_.number(block_.keys());
  Value isThere = k_.less(range.first(), range.last()), count = k_.select(isThere, block_.blocksOf(range), zero);
  Blocks blocks{count, zero, count};
  std::optional<KeyRange> own;
  if (mayPass_) {
    // What rows see is asked of rows that are there.
    TileSpace space(block_.scores, at.inBatch, rowsOf(at), zero);
    Value hasRows = k_.less(rowsOf(at), space.rows()), lastRow = k_.sub(space.rows(), k_.number(1));
    AttentionTile first = at;
    first.firstRow = k_.min(rowsOf(at), lastRow);
    own.emplace(block_.rangeOfGroup(first));
    if (block_.parts)
      own->takeThoseOf(range);
    isThere = k_.both(hasRows, k_.less(own->first(), own->last()));
    blocks.first = k_.div(k_.sub(own->first(), range.first()), keys);
    blocks.last = k_.add(blocks.first, block_.blocksOf(*own));
  }
  const Tile tile{at, own ? *own : range, block_.queriesOf(round), rowsOf(at), firstStep, blocks, round};
  SmallVector<Type> types(states() + sums(), k_.b.getF32Type());
  const Values carried = k_.choose(
      isThere, types, [&] { return allBlocks(tile); },
      [&] {
        if (mayPass_)
          passAll(tile);
        askForNext(round);
        Values nothing = isPlain_ ? softmax_.start() : online_.start();
        nothing.append(sums(), neutral(k_, block_.output.product.sum.sum));
        return nothing;
      });
  write(tile, carried);
}

void QueryGroup::run() {
  // The first turn is the first consumer's.
  k_.when(k_.equal(block_.group, k_.number(block_.shape.consumers - 1)), [&] { passTurn(); });
  askForQueries(k_.number(0));
  block_.forEachTile(
      [&](Value round) {
        if (!block_.hasNextQueries())
          askBehindNone(round);
        block_.core.waitForGroups(0);
        block_.core.publish();
        k_.barrier(); // of the warpgroup: queries are there, and those of the round before have been read
        if (block_.hasNextQueries())
          askForQueries(k_.add(round, k_.number(1)));
      },
      [&](Value round, const AttentionTile &at, const KeyRange &range, Value firstStep) {
        computeTile(round, at, range, firstStep);
      });
  // The last turn that was passed on is taken: no barrier is left half full.
  k_.when(k_.equal(block_.group, k_.number(0)), [&] { awaitTurn(); });
}

} // namespace tenon::compiler::codegen
