// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/warpgroup_attention.h"

#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/operand_tile.h"
#include "compiler/codegen/contraction/result_tile.h"
#include "compiler/codegen/contraction/stage_ring.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kGroupRows = 64, kGroupThreads = 128, kConsumers = 2;
constexpr uint32_t kKeys = 128, kTileDepth = 64, kColumnBlock = 64;
constexpr uint32_t kSlotBytes = 128 << 10; // of all slots
constexpr uint32_t kPartColumns = 64;      // of a result that a consumer has in shared memory at once
// Registers of a thread. A block of 384 is given 168 each.
constexpr uint32_t kProducerRegisters = 88, kConsumerRegisters = 208;
// Copies without a map: so many are on their way before the first is waited for.
constexpr uint32_t kCopiedAhead = 2;
// Barriers of the warpgroups begin behind 0, which is the block's.
constexpr uint32_t kFirstBarrier = 1;

uint32_t slotBytes(const WarpgroupAttentionShape &shape) {
  return kKeys * std::max(shape.depth, shape.columns) * 2;
}
uint32_t slotsOf(const WarpgroupAttentionShape &shape) {
  return kSlotBytes / slotBytes(shape);
}
uint32_t queryBytes(const WarpgroupAttentionShape &shape) { // of a consumer
  return kGroupRows * shape.depth * 2;
}
uint32_t partBytes() { // of a consumer
  return std::max(stagedBytes(kGroupRows, kPartColumns, sizeof(float)), NarrowResult::bytes());
}

class WarpgroupAttention {
public:
  WarpgroupAttention(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape, ValueRange tensorMaps)
      : kernel_(kernel), shape_(shape), tensorMaps_(tensorMaps), k_(kernel.k),
        core_(k_, kernel.attention.tensorCoreElement()), scores_(product(kernel.attention.scores, kKeys, kTileDepth)),
        output_(product(kernel.attention.output, shape.columns, kKeys)),
        softmax_(k_, k_.b.getF32Type(), 2, {1, 2}, /*isFast=*/true) {}

  void run();

private:
  using Values = SmallVector<Value>;
  static constexpr uint32_t kStates = 4; // that softmax carries, of two rows

  ProductKernel product(const Product &product, uint32_t columns, uint32_t depth) const {
    return {.kernel = kernel_.kernel,
            .shape = kernel_.shape,
            .product = product,
            .k = kernel_.k,
            .space = kernel_.space,
            .bodies = kernel_.bodies,
            .rows = kGroupRows,
            .columns = columns,
            .depth = depth,
            .tensorMaps = {}};
  }
  bool hasMaps() const { return tensorMaps_.size() == 2; }
  uint32_t sums() const { return shape_.columns / 2; } // of a thread
  uint32_t depthTiles() const { return shape_.depth / kTileDepth; }
  Value inArena(Value bytes) { return k_.at(arena_, k_.b.getI8Type(), bytes); }
  Value slotOf(Value step) { return k_.mul(ring_->stageOf(step), k_.number(slotBytes(shape_))); }
  Value queries() { return k_.add(k_.mul(group_, k_.number(queryBytes(shape_))), k_.number(kSlotBytes)); }
  Value isAligned(const ProductKernel &kernel, const Operand &operand);

  void produce(const KeyRange &range, Value isFast);
  void forEachCopy(const KeyRange &range, llvm::function_ref<void(Value, Value, bool)> copy);
  void askForBoxes(const TileMap &map, const ProductKernel &kernel, Value tensorMap, Value key, Value step);
  void copyElements(Value key, Value step, bool isKeys, bool isFast);

  void consume(const KeyRange &range);
  void bringQueries();
  Value descriptor(Value bytes, uint32_t blockBytes);
  Values scoresOf(Value step);
  Values weighted(ArrayRef<Value> factors, Value step, ValueRange sums);
  SmallVector<LogitRun> runsOf(const Values &scores, Value firstKey);
  Values factorsOf(ArrayRef<Values> weights);
  void release(Value step) {
    k_.when(isFirst_, [&] { ring_->empty(step); });
  }
  Values firstBlock(const KeyRange &range);
  Values nextBlock(const KeyRange &range, Value key, bool isWhole, ValueRange carried);
  Values allBlocks(const KeyRange &range);
  void write(const KeyRange &range, ArrayRef<Value> carried);

  const AttentionKernel &kernel_;
  const WarpgroupAttentionShape &shape_;
  ValueRange tensorMaps_;
  KernelBuilder &k_;
  TensorCore core_;
  const ProductKernel scores_, output_; // of a consumer
  OnlineSoftmax softmax_;
  AttentionTile tile_;
  Value arena_;
  Value group_;   // number of the warpgroup
  Value thread_;  // in it
  Value isFirst_; // of it, who tells that it has read
  Value rows_;    // the first of this consumer
  std::optional<StageRing> ring_;
};

Value WarpgroupAttention::isAligned(const ProductKernel &kernel, const Operand &operand) {
  TileSpace space(kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
  return OperandTile(kernel, space, core_, operand).isAligned();
}

/// copy(key, step, whether it is keys): in the order of the ring.
void WarpgroupAttention::forEachCopy(const KeyRange &range, llvm::function_ref<void(Value, Value, bool)> copy) {
  Value keys = k_.number(kKeys);
  k_.when(k_.less(range.first(), range.last()), [&] {
    copy(range.first(), k_.number(0), true);
    Value last =
        k_.loop(k_.add(range.first(), keys), range.last(), keys, k_.number(1), [&](Value key, ValueRange step) {
          copy(key, step[0], true);
          copy(k_.sub(key, keys), k_.add(step[0], k_.number(1)), false);
          return Values{k_.add(step[0], k_.number(2))};
        })[0];
    Value blocks = k_.div(k_.add(last, k_.number(1)), k_.number(2));
    copy(k_.add(range.first(), k_.mul(k_.sub(blocks, k_.number(1)), keys)), last, false);
  });
}

void WarpgroupAttention::askForBoxes(const TileMap &map, const ProductKernel &kernel, Value tensorMap, Value key,
                                     Value step) {
  const Operand &operand = kernel.product.right;
  const bool isKeys = operand.isAlongReduced;
  TileSpace space(kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
  const uint32_t tiles = isKeys ? depthTiles() : map.boxes, bytes = kKeys * 128;
  ring_->waitUntilEmpty(step);
  ring_->expect(step, tiles * bytes);
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    Values position;
    for (unsigned axis : map.axes) {
      const bool isReduced = axis == kernel.product.reduced.front(), isAcross = axis == operand.across.front();
      Value ofTile = k_.number(int64_t(tile) * (isKeys ? kTileDepth : kColumnBlock));
      // Keys are across in the first product, reduced in the second.
      position.push_back((isKeys ? isAcross : isReduced)   ? key
                         : (isKeys ? isReduced : isAcross) ? ofTile
                                                           : space.inBatch(axis));
    }
    ring_->copyBox(inArena(k_.add(slotOf(step), k_.number(int64_t(tile) * bytes))), tensorMap, position, step);
  }
}

void WarpgroupAttention::copyElements(Value key, Value step, bool isKeys, bool isFast) {
  Bodies::Scope scope(kernel_.bodies);
  ring_->waitUntilEmpty(step);
  const ProductKernel &kernel = isKeys ? scores_ : output_;
  TileSpace space(kernel, tile_.inBatch, tile_.firstRow, isKeys ? key : k_.number(0));
  OperandTile tile(kernel, space, core_, kernel.product.right);
  if (isKeys)
    for (uint32_t part = 0; part < depthTiles(); ++part)
      tile.bring(inArena(k_.add(slotOf(step), k_.number(int64_t(part) * kKeys * 128))), k_.number(part), isFast);
  else
    tile.bring(inArena(slotOf(step)), k_.div(key, k_.number(kKeys)), isFast);
  core_.closeGroup();
}

void WarpgroupAttention::produce(const KeyRange &range, Value isFast) {
  k_.leaveRegisters(kProducerRegisters);
  // A copy is handed over when it is there, which is seen when later ones have been asked for.
  auto handOver = [&](Value step, uint32_t pending) {
    core_.waitForGroups(pending);
    core_.publish();
    ring_->fill(step);
  };
  auto byElements = [&](bool isFast) {
    forEachCopy(range, [&](Value key, Value step, bool isKeys) {
      copyElements(key, step, isKeys, isFast);
      k_.when(k_.less(k_.number(kCopiedAhead - 1), step),
              [&] { handOver(k_.sub(step, k_.number(kCopiedAhead)), kCopiedAhead); });
    });
    // The last ones: two steps for each block.
    Value blocks = k_.div(k_.add(k_.sub(range.last(), range.first()), k_.number(kKeys - 1)), k_.number(kKeys));
    k_.when(k_.less(range.first(), range.last()), [&] {
      Value steps = k_.mul(blocks, k_.number(2));
      for (uint32_t left = kCopiedAhead; left > 0; --left)
        handOver(k_.sub(steps, k_.number(left)), left - 1);
    });
  };
  k_.asTeam(thread_, kGroupThreads, k_.number(kFirstBarrier + kConsumers), [&] {
    if (!hasMaps()) {
      k_.branch(isFast, [&] { byElements(true); }, [&] { byElements(false); });
      return;
    }
    k_.branch(
        isFast,
        [&] {
          k_.when(isFirst_, [&] {
            forEachCopy(range, [&](Value key, Value step, bool isKeys) {
              if (isKeys)
                askForBoxes(*shape_.keys, scores_, tensorMaps_[0], key, step);
              else
                askForBoxes(*shape_.values, output_, tensorMaps_[1], key, step);
            });
          });
        },
        [&] { byElements(false); });
  });
}

void WarpgroupAttention::bringQueries() {
  const Operand &operand = scores_.product.left;
  TileSpace space(scores_, tile_.inBatch, rows_, k_.number(0));
  OperandTile tile(scores_, space, core_, operand);
  Value base = queries();
  auto bring = [&](bool isFast) {
    for (uint32_t part = 0; part < depthTiles(); ++part)
      tile.bring(inArena(k_.add(base, k_.number(int64_t(part) * kGroupRows * 128))), k_.number(part), isFast);
  };
  k_.branch(tile.isAligned(), [&] { bring(true); }, [&] { bring(false); });
  core_.closeGroup();
  core_.waitForGroups(0);
  core_.publish();
  k_.barrier(); // of the warpgroup
}

/// Where a tile begins in the arena, in 16 bytes, how far eight rows are from the next eight, blocks of 64 positions
/// from each other, and that rows of 128 bytes are swizzled.
Value WarpgroupAttention::descriptor(Value bytes, uint32_t blockBytes) {
  constexpr uint64_t kEightRows = 8 * 128 / 16, kSwizzle128 = uint64_t(1) << 62;
  Value address = k_.add(LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), arena_), bytes);
  Value start = k_.rem(k_.div(address, k_.number(16)), k_.number(1 << 14));
  return arith::OrIOp::create(k_.b, k_.loc, start,
                              k_.number(int64_t(uint64_t(blockBytes / 16) << 16 | kEightRows << 32 | kSwizzle128)));
}

WarpgroupAttention::Values WarpgroupAttention::scoresOf(Value step) {
  return core_.multiplyTiles(descriptor(queries(), 16), descriptor(slotOf(step), 16), depthTiles(), kGroupRows * 128,
                             kKeys * 128, kKeys);
}

WarpgroupAttention::Values WarpgroupAttention::weighted(ArrayRef<Value> factors, Value step, ValueRange sums) {
  return core_.multiplyRegisters(factors, descriptor(slotOf(step), kKeys * 128), 16 * 128, shape_.columns, sums);
}

/// Lane l of a warp holds keys 2 (l % 4) and the next of each eight, of row l / 4 and of the eighth behind it.
SmallVector<LogitRun> WarpgroupAttention::runsOf(const Values &scores, Value firstKey) {
  Value lane = k_.rem(thread_, k_.number(32)), warp = k_.div(thread_, k_.number(32));
  Value row = k_.add(rows_, k_.add(k_.mul(warp, k_.number(16)), k_.div(lane, k_.number(4))));
  Value key = k_.add(firstKey, k_.mul(k_.rem(lane, k_.number(4)), k_.number(2)));
  SmallVector<LogitRun> runs;
  for (uint32_t half = 0; half < 2; ++half)
    for (uint32_t column = 0; column < kKeys / 8; ++column) {
      const Value *first = scores.begin() + 4 * column + 2 * half;
      runs.push_back({k_.add(row, k_.number(8 * half)), k_.add(key, k_.number(8 * column)), Values(first, first + 2)});
    }
  return runs;
}

/// Left factors, four registers for each 16 keys, from the weights of two rows.
WarpgroupAttention::Values WarpgroupAttention::factorsOf(ArrayRef<Values> weights) {
  Values factors;
  for (uint32_t first = 0; first < kKeys / 4; first += 2)
    for (const Values &row : weights)
      factors.push_back(core_.pair(row[first], row[first + 1]));
  return factors;
}

SmallVector<SmallVector<Value>> weightsOf(ArrayRef<LogitRun> runs) {
  SmallVector<SmallVector<Value>> weights(2);
  for (auto [number, run] : llvm::enumerate(runs))
    llvm::append_range(weights[number / (kKeys / 8)], run.scores);
  return weights;
}

/// Carried: what softmax does, the sums of the result, and the factors of the block before.
WarpgroupAttention::Values WarpgroupAttention::firstBlock(const KeyRange &range) {
  Bodies::Scope scope(kernel_.bodies);
  Value step = k_.number(0);
  ring_->waitUntilFull(step);
  const Values scores = core_.waitForProducts(0, scoresOf(step));
  release(step);
  SmallVector<LogitRun> runs = runsOf(scores, range.first());
  TileSpace space(scores_, tile_.inBatch, rows_, range.first());
  range.computeLogits(space, range.first(), runs);
  SmallVector<Values> weights = weightsOf(runs);
  OnlineSoftmax::Step softmax = softmax_.step(softmax_.start(), weights);
  Values carried = softmax.carried;
  carried.append(sums(), neutral(k_, output_.product.sum.sum));
  llvm::append_range(carried, factorsOf(weights));
  return carried;
}

WarpgroupAttention::Values WarpgroupAttention::nextBlock(const KeyRange &range, Value key, bool isWhole,
                                                         ValueRange carried) {
  Bodies::Scope scope(kernel_.bodies);
  Value block = k_.div(k_.sub(key, range.first()), k_.number(kKeys));
  Value ofValues = k_.mul(block, k_.number(2)), ofKeys = k_.sub(ofValues, k_.number(1));
  const ValueRange states = carried.take_front(kStates), before = carried.drop_front(kStates).take_front(sums());
  const Values factors = llvm::to_vector(carried.drop_front(kStates + sums()));
  ring_->waitUntilFull(ofKeys);
  Values scores = scoresOf(ofKeys);
  ring_->waitUntilFull(ofValues);
  Values result = weighted(factors, ofValues, before);
  scores = core_.waitForProducts(1, scores);
  release(ofKeys);

  SmallVector<LogitRun> runs = runsOf(scores, key);
  TileSpace space(scores_, tile_.inBatch, rows_, key);
  const double scale = range.computeLogits(space, runs, isWhole);
  SmallVector<Values> weights = weightsOf(runs);
  OnlineSoftmax::Step softmax = softmax_.step(states, weights, scale);

  // The registers of the factors are read until the product is there: new ones are written behind the wait.
  Values tied = result;
  for (const Values &row : weights)
    llvm::append_range(tied, row);
  tied = core_.waitForProducts(0, tied);
  release(ofValues);
  const Value *next = tied.begin();
  for (Value &sum : result)
    sum = *next++;
  for (Values &row : weights)
    for (Value &weight : row)
      weight = *next++;
  Values after = softmax.carried;
  llvm::append_range(after, softmax_.scaled(softmax, result, [](size_t i) { return uint32_t(i % 4 / 2); }));
  llvm::append_range(after, factorsOf(weights));
  return after;
}

/// What softmax carries, and the sums of the result.
WarpgroupAttention::Values WarpgroupAttention::allBlocks(const KeyRange &range) {
  Value keys = k_.number(kKeys), second = k_.add(range.first(), keys);
  Values carried = firstBlock(range);
  for (const KeyRange::Segment &segment : range.segments()) {
    Value from = arith::MaxSIOp::create(k_.b, k_.loc, segment.first, second);
    carried = k_.loop(from, segment.last, keys, carried,
                      [&](Value key, ValueRange inside) { return nextBlock(range, key, segment.isWhole, inside); });
  }
  Value blocks = k_.div(k_.add(k_.sub(range.last(), range.first()), k_.number(kKeys - 1)), keys);
  Value step = k_.sub(k_.mul(blocks, k_.number(2)), k_.number(1));
  ring_->waitUntilFull(step);
  const ArrayRef<Value> all = carried;
  const Values result = core_.waitForProducts(
      0, weighted(all.drop_front(kStates + sums()), step, ValueRange(all.drop_front(kStates).take_front(sums()))));
  release(step);
  Values end(all.begin(), all.begin() + kStates);
  llvm::append_range(end, result);
  return end;
}

void WarpgroupAttention::write(const KeyRange &range, ArrayRef<Value> carried) {
  const Values inverses = softmax_.inverses(ValueRange(carried.take_front(kStates)));
  Values values;
  for (auto [i, sum] : llvm::enumerate(carried.drop_front(kStates)))
    values.push_back(range.orNothing(arith::MulFOp::create(k_.b, k_.loc, sum, inverses[i % 4 / 2])));
  const uint32_t behindSlots = kConsumers * queryBytes(shape_) + kSlotBytes;
  Value arena = inArena(k_.add(k_.number(behindSlots), k_.mul(group_, k_.number(partBytes()))));
  TileSpace space(output_, tile_.inBatch, rows_, k_.number(0));
  auto byParts = [&] {
    Value lane = k_.rem(thread_, k_.number(32)), warp = k_.div(thread_, k_.number(32));
    Value row = k_.add(k_.mul(warp, k_.number(16)), k_.div(lane, k_.number(4)));
    Value pair = k_.mul(k_.rem(lane, k_.number(4)), k_.number(2));
    SmallVector<ResultPart> parts;
    for (uint32_t first = 0; first < shape_.columns; first += kPartColumns) {
      ResultPart &part = parts.emplace_back();
      part.rows = kGroupRows;
      part.columns = kPartColumns;
      part.rowOf = [](Value inPart) { return inPart; };
      part.columnOf = [this, first](Value inPart) { return k_.add(inPart, k_.number(first)); };
      for (uint32_t column = 0; column < kPartColumns / 8; ++column)
        for (uint32_t half = 0; half < 2; ++half) {
          const Value *each = values.begin() + 4 * (first / 8 + column) + 2 * half;
          part.runs.push_back(
              {k_.add(row, k_.number(8 * half)), k_.add(pair, k_.number(8 * column)), Values(each, each + 2)});
        }
    }
    writeResult(output_, space, arena, parts);
  };
  std::optional<NarrowResult> narrow = NarrowResult::of(output_);
  if (!narrow)
    return byParts();
  k_.branch(narrow->isAligned(), [&] { narrow->write(space, k_.number(0), k_.number(0), arena, values); }, byParts);
}

void WarpgroupAttention::consume(const KeyRange &range) {
  k_.takeRegisters(kConsumerRegisters);
  k_.asTeam(thread_, kGroupThreads, k_.add(group_, k_.number(kFirstBarrier)), [&] {
    bringQueries();
    SmallVector<Type> types(kStates + sums(), k_.b.getF32Type());
    const Values carried = k_.choose(
        k_.less(range.first(), range.last()), types, [&] { return allBlocks(range); },
        [&] {
          Values nothing = softmax_.start();
          nothing.append(sums(), neutral(k_, output_.product.sum.sum));
          return nothing;
        });
    write(range, carried);
  });
}

void WarpgroupAttention::run() {
  k_.wantResident(1);
  arena_ = k_.dynamicShared(); // slots, queries, parts of results, barriers
  const uint32_t behind = kConsumers * (queryBytes(shape_) + partBytes()) + kSlotBytes;
  ring_.emplace(k_, inArena(k_.number(behind)), slotsOf(shape_));
  tile_ = tileOf(kernel_, k_.block());
  // The same for all threads of a warp, and the compiler shall know it.
  group_ = k_.shuffleFrom(k_.div(k_.thread(), k_.number(kGroupThreads)), k_.number(0));
  thread_ = k_.rem(k_.thread(), k_.number(kGroupThreads));
  isFirst_ = k_.equal(thread_, k_.number(0));
  rows_ = k_.add(tile_.firstRow, k_.mul(group_, k_.number(kGroupRows)));
  Value isFast = k_.both(isAligned(scores_, scores_.product.right), isAligned(output_, output_.product.right));
  Value filling = hasMaps() ? k_.select(isFast, k_.number(1), k_.number(kGroupThreads)) : k_.number(kGroupThreads);
  k_.when(k_.equal(k_.thread(), k_.number(0)), [&] { ring_->create(filling, kConsumers); });
  k_.barrier();
  // Both consumers go through the same blocks.
  const KeyRange range(kernel_, scores_, tile_, kWarpgroupAttentionRows, kKeys);
  k_.branch(k_.equal(group_, k_.number(kConsumers)), [&] { produce(range, isFast); }, [&] { consume(range); });
}

} // namespace

std::optional<WarpgroupAttentionShape> WarpgroupAttentionShape::of(const GroupShape &shape,
                                                                   const Attention &attention) {
  auto sizeOf = [&](ArrayRef<unsigned> axes) {
    int64_t size = 1;
    for (unsigned axis : axes)
      size *= shape.axes[axis].size.value_or(0);
    return size;
  };
  const int64_t depth = sizeOf(attention.scores.reduced), columns = sizeOf(attention.output.columns);
  auto isTaken = [](int64_t size) { return size == 64 || size == 128; };
  if (!attention.tensorCoreElement() || !isTaken(depth) || !isTaken(columns) || !attention.scores.left.isAlongReduced ||
      !attention.scores.right.isAlongReduced || attention.output.right.isAlongReduced)
    return std::nullopt;
  WarpgroupAttentionShape found{uint32_t(depth), uint32_t(columns),
                                mapOf(shape, attention.scores, attention.scores.right, kKeys, kTileDepth),
                                mapOf(shape, attention.output, attention.output.right, uint32_t(columns), kKeys)};
  if (!found.keys || !found.values)
    found.keys = found.values = std::nullopt;
  return found;
}

uint32_t warpgroupAttentionBytes(const WarpgroupAttentionShape &shape) {
  return kConsumers * (queryBytes(shape) + partBytes()) + kSlotBytes + StageRing::bytes(slotsOf(shape));
}

void writeWarpgroupAttention(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape,
                             ValueRange tensorMaps) {
  WarpgroupAttention(kernel, shape, tensorMaps).run();
}

} // namespace tenon::compiler::codegen
