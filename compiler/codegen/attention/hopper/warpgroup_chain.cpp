// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/warpgroup_chain.h"

#include "compiler/codegen/attention/hiding.h"
#include "compiler/codegen/attention/hopper/group_tile.h"
#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/contraction/operand_tile.h"
#include "compiler/codegen/contraction/stage_ring.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kConsumers = 2, kTileDepth = 64;
constexpr uint32_t kRowBytes = 128; // of a tile: 64 elements
// Registers of a thread. A block of 384 is given 168 each.
constexpr uint32_t kProducerRegisters = 40, kConsumerRegisters = 232;
// Barriers of the warpgroups begin behind 0, which is the block's; behind them those by which consumers take turns.
constexpr uint32_t kFirstBarrier = 1, kFirstTurn = kFirstBarrier + kConsumers + 1;
constexpr uint32_t kMostBytes = 227 << 10, kMostSlots = 12;
// Copies without a map: so many are on their way before the first is waited for.
constexpr uint32_t kCopiedAhead = 2;

uint32_t slotBytes(const WarpgroupChainShape &shape) {
  return shape.keys * std::max(*llvm::max_element(shape.depths), shape.columns) * 2;
}
uint32_t leftBytes(uint32_t depth) { // of a consumer
  return kGroupRows * depth * 2;
}
// Shared memory: slots of the ring | left factors of all consumers | parts of their results | barriers
uint32_t allLeftBytes(const WarpgroupChainShape &shape) {
  uint32_t bytes = 0;
  for (uint32_t depth : shape.depths)
    bytes += kConsumers * leftBytes(depth);
  return bytes;
}
uint32_t bytesBesideRing(const WarpgroupChainShape &shape) {
  return allLeftBytes(shape) + kConsumers * groupResultBytes();
}
uint32_t slotsOf(const WarpgroupChainShape &shape) {
  const uint32_t free = kMostBytes - bytesBesideRing(shape) - StageRing::bytes(kMostSlots);
  return std::min(kMostSlots, free / slotBytes(shape));
}
uint32_t ringBytes(const WarpgroupChainShape &shape) {
  return slotsOf(shape) * slotBytes(shape);
}

/// Whether both maps bring the same box of a tensor: keys, and all of the depth or of the columns.
bool bringTheSame(const TileMap &right, unsigned depthAxis, const TileMap &values, unsigned columnAxis) {
  return right.binding == values.binding && right.axes.size() == values.axes.size() &&
         llvm::all_of(llvm::zip_equal(right.axes, values.axes), [&](auto axes) {
           const auto [one, other] = axes;
           return one == other || (one == depthAxis && other == columnAxis);
         });
}

/// Whether weights are computed from something that each key has its own of, beside the scores.
bool readsAlongKeys(const GroupShape &shape, const Attention &attention) {
  linalg::GenericOp op = attention.logits->op;
  const ArrayRef<unsigned> keys = shape.axes[attention.output.reduced.front()].axes;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    if (llvm::any_of(attention.inner(), [&](const Product *product) {
          return input->get() == linalg::GenericOp(product->op->op)->getResult(0);
        }))
      return false;
    AffineMap map = op.getMatchingIndexingMap(input);
    const SmallVector<unsigned> axes = shape.group.axisOf.lookup(op);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (llvm::is_contained(keys, axes[loop]) && map.isFunctionOfDim(loop))
        return true;
    return false;
  });
}

class WarpgroupChain {
public:
  WarpgroupChain(const AttentionKernel &kernel, const WarpgroupChainShape &shape, ValueRange tensorMaps);
  void run();

private:
  using Values = SmallVector<Value>;
  struct Inner {
    ProductKernel kernel;
    uint32_t depth;
    uint32_t left; // bytes behind the arena, of the first consumer
  };

  AttentionTile firstTile();
  Value inArena(Value bytes) { return k_.at(arena_, k_.b.getI8Type(), bytes); }
  Value slotOf(Value step) { return k_.mul(ring_.stageOf(step), k_.number(slotBytes(shape_))); }
  Value stepOf(Value key, uint32_t copy); // of a block of keys
  uint32_t valueCopy() const { return shape_.shared.value_or(shape_.depths.size()); }
  void asTeam(llvm::function_ref<void()> body) {
    k_.asTeam(thread_, kGroupThreads, k_.add(group_, k_.number(kFirstBarrier)), body);
  }

  // The producer.
  const ProductKernel &kernelOf(uint32_t copy) const { return copy < inner_.size() ? inner_[copy].kernel : output_; }
  Value isFast();
  void forEachCopy(llvm::function_ref<void(Value, Value, uint32_t)> copy);
  void askForBoxes(Value key, Value step, uint32_t copy);
  void copyElements(Value key, Value step, uint32_t copy, bool isFast);
  void byElements(bool isFast);
  void produce(Value isFast);

  // A consumer.
  Value descriptor(Value bytes, uint32_t blockBytes) { return tileDescriptor(k_, arena_, bytes, blockBytes); }
  Value leftOf(const Inner &inner) {
    return k_.add(k_.number(inner.left), k_.mul(group_, k_.number(leftBytes(inner.depth))));
  }
  void bringLeft();
  void turn(const char *instruction, Value barrier);
  void awaitTurn() { turn("bar.sync", k_.add(group_, k_.number(kFirstTurn))); }
  void passTurn() { turn("bar.arrive", k_.sub(k_.number(kFirstTurn + 1), group_)); }
  void release(Value step);
  SmallVector<Values, 2> scoresOf(Value key);
  void waitForScores(Value key, SmallVector<Values, 2> &scores, uint32_t pending);
  SmallVector<Values> weightsOf(ArrayRef<Values> scores, Value key, bool isWhole);
  Values weighted(ValueRange factors, Value key, ValueRange sums);
  Values firstBlock();
  Values nextBlock(Value key, bool isWhole, ValueRange carried);
  Values allBlocks();
  void consume();

  const AttentionKernel &kernel_;
  const WarpgroupChainShape &shape_;
  const ValueRange tensorMaps_;
  KernelBuilder &k_;
  TensorCore core_;
  SmallVector<Inner, 2> inner_;
  ProductKernel output_;
  Value arena_;
  Value group_, thread_, isFirst_; // number of the warpgroup, of the thread in it; whether it speaks for it
  StageRing ring_;
  const AttentionTile tile_;
  std::optional<KeyRange> range_;
};

WarpgroupChain::WarpgroupChain(const AttentionKernel &kernel, const WarpgroupChainShape &shape, ValueRange tensorMaps)
    : kernel_(kernel), shape_(shape), tensorMaps_(tensorMaps), k_(kernel.k),
      core_(k_, kernel.attention.tensorCoreElement()),
      output_(kernel.product(kernel.attention.output, kGroupRows, shape.columns, shape.keys)),
      arena_(k_.dynamicShared()),
      // The same for all threads of a warp, and the compiler shall know it.
      group_(k_.shuffleFrom(k_.div(k_.thread(), k_.number(kGroupThreads)), k_.number(0))),
      thread_(k_.rem(k_.thread(), k_.number(kGroupThreads))), isFirst_(k_.equal(thread_, k_.number(0))),
      ring_(k_, inArena(k_.number(ringBytes(shape) + bytesBesideRing(shape))), slotsOf(shape)), tile_(firstTile()) {
  // Rows of all consumers are a tile: there is no half of one.
  output_.cluster = kConsumers;
  uint32_t used = ringBytes(shape);
  for (auto [product, depth] : llvm::zip_equal(kernel.attention.inner(), shape.depths)) {
    Inner &inner =
        inner_.emplace_back(Inner{kernel.product(*product, kGroupRows, shape_.keys, kTileDepth), depth, used});
    inner.kernel.cluster = kConsumers;
    used += kConsumers * leftBytes(depth);
  }
}

/// Those that see most keys come first.
AttentionTile WarpgroupChain::firstTile() {
  const std::optional<Hiding> hiding = hidingOf(kernel_.shape, kernel_.attention, kernel_.rows);
  const bool isLower = hiding && !hiding->bounds.empty() &&
                       llvm::none_of(hiding->bounds, [](const KeyBound &bound) { return bound.isUpper; });
  return tileOf(kernel_, k_.block(), isLower);
}

Value WarpgroupChain::stepOf(Value key, uint32_t copy) {
  Value block = k_.div(k_.sub(key, range_->first()), k_.number(shape_.keys));
  return k_.add(k_.mul(block, k_.number(shape_.copies())), k_.number(copy));
}

/// Whether maps, or vectors, can copy.
Value WarpgroupChain::isFast() {
  Value all;
  for (uint32_t copy = 0; copy < shape_.copies(); ++copy) {
    const ProductKernel &kernel = kernelOf(copy);
    TileSpace space(kernel, k_.number(0), k_.number(0), k_.number(0));
    Value each = OperandTile(kernel, space, core_, kernel.product.right).isAligned();
    all = all ? k_.both(all, each) : each;
  }
  return all;
}

/// copy(first key, step, which): in the order of the ring.
void WarpgroupChain::forEachCopy(llvm::function_ref<void(Value, Value, uint32_t)> copy) {
  k_.loop(range_->first(), range_->last(), k_.number(shape_.keys), {}, [&](Value key, ValueRange) {
    Bodies::Scope scope(kernel_.bodies);
    for (uint32_t number = 0; number < shape_.copies(); ++number)
      copy(key, stepOf(key, number), number);
    return Values();
  });
}

void WarpgroupChain::askForBoxes(Value key, Value step, uint32_t copy) {
  const bool isInner = copy < inner_.size();
  const ProductKernel &kernel = kernelOf(copy);
  const TileMap &map = isInner ? shape_.rightMaps[copy] : shape_.valueMap;
  TileSpace space(kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
  const uint32_t tiles = isInner ? inner_[copy].depth / kTileDepth : map.boxes, bytes = shape_.keys * kRowBytes;
  const unsigned keys = kernel_.attention.output.reduced.front(),
                 wide = isInner ? kernel.product.reduced.front() : kernel.product.right.across.front();
  ring_.waitUntilEmpty(step);
  ring_.expect(step, tiles * bytes);
  for (uint32_t number = 0; number < tiles; ++number) {
    Values position;
    for (unsigned axis : map.axes)
      position.push_back(axis == keys   ? key
                         : axis == wide ? k_.number(int64_t(number) * kTileDepth)
                                        : space.inBatch(axis));
    Value to = inArena(k_.add(slotOf(step), k_.number(int64_t(number) * bytes)));
    ring_.copyBox(to, tensorMaps_[copy], position, step);
  }
}

void WarpgroupChain::copyElements(Value key, Value step, uint32_t copy, bool isFast) {
  ring_.waitUntilEmpty(step);
  const bool isInner = copy < inner_.size();
  const ProductKernel &kernel = kernelOf(copy);
  TileSpace space(kernel, tile_.inBatch, tile_.firstRow, isInner ? key : k_.number(0));
  OperandTile tile(kernel, space, core_, kernel.product.right);
  Value slot = slotOf(step);
  if (isInner)
    for (uint32_t part = 0; part < inner_[copy].depth / kTileDepth; ++part)
      tile.bring(inArena(k_.add(slot, k_.number(int64_t(part) * shape_.keys * kRowBytes))), k_.number(part), isFast);
  else
    tile.bring(inArena(slot), k_.div(key, k_.number(shape_.keys)), isFast);
  core_.closeGroup();
}

/// A copy is handed over when it is there, which is seen when later ones have been asked for.
void WarpgroupChain::byElements(bool isFast) {
  auto handOver = [&](Value step, uint32_t pending) {
    core_.waitForGroups(pending);
    core_.publish();
    ring_.fill(step);
  };
  forEachCopy([&](Value key, Value step, uint32_t copy) {
    copyElements(key, step, copy, isFast);
    k_.when(k_.less(k_.number(kCopiedAhead - 1), step),
            [&] { handOver(k_.sub(step, k_.number(kCopiedAhead)), kCopiedAhead); });
  });
  // The last ones: there are none, or as many as are ahead.
  Value keys = k_.sub(range_->last(), range_->first());
  Value blocks = k_.div(k_.add(keys, k_.number(shape_.keys - 1)), k_.number(shape_.keys));
  Value steps = k_.mul(blocks, k_.number(shape_.copies()));
  for (uint32_t left = kCopiedAhead; left > 0; --left)
    k_.when(k_.less(k_.number(left - 1), steps), [&] { handOver(k_.sub(steps, k_.number(left)), left - 1); });
}

void WarpgroupChain::produce(Value isFast) {
  auto byMaps = [&] {
    k_.when(isFirst_,
            [&] { forEachCopy([&](Value key, Value step, uint32_t copy) { askForBoxes(key, step, copy); }); });
  };
  auto fast = [&] { tensorMaps_.empty() ? byElements(true) : byMaps(); };
  k_.when(k_.less(range_->first(), range_->last()), [&] { k_.branch(isFast, fast, [&] { byElements(false); }); });
}

void WarpgroupChain::bringLeft() {
  for (const Inner &inner : inner_) {
    Value rows = k_.add(tile_.firstRow, k_.mul(group_, k_.number(kGroupRows)));
    TileSpace space(inner.kernel, tile_.inBatch, rows, k_.number(0));
    OperandTile tile(inner.kernel, space, core_, inner.kernel.product.left);
    auto bring = [&](bool isFast) {
      for (uint32_t part = 0; part < inner.depth / kTileDepth; ++part)
        tile.bring(inArena(k_.add(leftOf(inner), k_.number(int64_t(part) * kGroupRows * kRowBytes))), k_.number(part),
                   isFast);
    };
    k_.branch(tile.isAligned(), [&] { bring(true); }, [&] { bring(false); });
  }
  core_.closeGroup();
  core_.waitForGroups(0);
  core_.publish();
  k_.barrier(); // of the warpgroup
}

void WarpgroupChain::turn(const char *instruction, Value barrier) {
  k_.assembly(std::string(instruction) + " $0, " + std::to_string(kConsumers * kGroupThreads) + ";", {k_.word(barrier)},
              "r");
}

void WarpgroupChain::release(Value step) {
  k_.when(isFirst_, [&] { ring_.empty(step); });
}

/// In flight behind the call.
SmallVector<WarpgroupChain::Values, 2> WarpgroupChain::scoresOf(Value key) {
  SmallVector<Values, 2> scores;
  for (auto [number, inner] : llvm::enumerate(inner_))
    scores.push_back(core_.multiplyTiles(descriptor(leftOf(inner), 16), descriptor(slotOf(stepOf(key, number)), 16),
                                         inner.depth / kTileDepth, kGroupRows * kRowBytes, shape_.keys * kRowBytes,
                                         shape_.keys));
  return scores;
}

/// Their registers may be read then, and others may take the place of what was multiplied, but for the values.
void WarpgroupChain::waitForScores(Value key, SmallVector<Values, 2> &scores, uint32_t pending) {
  Values all;
  for (const Values &each : scores)
    llvm::append_range(all, each);
  all = core_.waitForProducts(pending, all);
  const size_t size = scores.front().size();
  for (auto [number, each] : llvm::enumerate(scores)) {
    llvm::copy(ArrayRef(all).slice(number * size, size), each.begin());
    if (number != shape_.shared)
      release(stepOf(key, number));
  }
}

/// Of two rows.
SmallVector<WarpgroupChain::Values> WarpgroupChain::weightsOf(ArrayRef<Values> scores, Value key, bool isWhole) {
  Value rows = k_.add(tile_.firstRow, k_.mul(group_, k_.number(kGroupRows)));
  SmallVector<LogitRun> runs = runsOfGroup(k_, thread_, rows, key, scores.front(),
                                           scores.size() > 1 ? ArrayRef<Value>(scores.back()) : ArrayRef<Value>());
  TileSpace space(inner_.front().kernel, tile_.inBatch, rows, key);
  range_->computeLogits(space, runs, isWhole);
  return rowsOfRuns(runs);
}

/// In flight behind the call, and so are the factors.
WarpgroupChain::Values WarpgroupChain::weighted(ValueRange factors, Value key, ValueRange sums) {
  return core_.multiplyRegisters(factors, descriptor(slotOf(stepOf(key, valueCopy())), shape_.keys * kRowBytes),
                                 16 * 128, shape_.columns, sums);
}

/// Carried: the sums of the result, then the factors of the block before.
WarpgroupChain::Values WarpgroupChain::firstBlock() {
  Bodies::Scope scope(kernel_.bodies);
  Value key = range_->first();
  for (uint32_t number = 0; number < inner_.size(); ++number)
    ring_.waitUntilFull(stepOf(key, number));
  SmallVector<Values, 2> scores = scoresOf(key);
  waitForScores(key, scores, 0);
  Values carried(shape_.columns / 2, neutral(k_, output_.product.sum.sum));
  llvm::append_range(carried, factorsOfGroup(core_, weightsOf(scores, key, /*isWhole=*/false)));
  return carried;
}

WarpgroupChain::Values WarpgroupChain::nextBlock(Value key, bool isWhole, ValueRange carried) {
  Bodies::Scope scope(kernel_.bodies);
  Value before = k_.sub(key, k_.number(shape_.keys));
  const uint32_t sums = shape_.columns / 2;
  for (uint32_t number = 0; number < inner_.size(); ++number)
    ring_.waitUntilFull(stepOf(key, number));
  awaitTurn();
  SmallVector<Values, 2> scores = scoresOf(key);
  if (!shape_.shared)
    ring_.waitUntilFull(stepOf(before, valueCopy()));
  const Values result = weighted(carried.drop_front(sums), before, carried.take_front(sums));
  passTurn();
  waitForScores(key, scores, 1);
  SmallVector<Values> weights = weightsOf(scores, key, isWhole);
  // The factors' registers are read until the product is there: new ones are written behind the wait.
  Values tied = result;
  for (const Values &row : weights)
    llvm::append_range(tied, row);
  tied = core_.waitForProducts(0, tied);
  release(stepOf(before, valueCopy()));
  const size_t size = weights.front().size();
  for (auto [number, row] : llvm::enumerate(weights))
    llvm::copy(ArrayRef(tied).slice(sums + number * size, size), row.begin());
  Values after(tied.begin(), tied.begin() + sums);
  llvm::append_range(after, factorsOfGroup(core_, weights));
  return after;
}

/// The sums of the result.
WarpgroupChain::Values WarpgroupChain::allBlocks() {
  Value keys = k_.number(shape_.keys), second = k_.add(range_->first(), keys);
  Values carried = firstBlock();
  for (const KeyRange::Segment &segment : range_->segments()) {
    Value from = arith::MaxSIOp::create(k_.b, k_.loc, segment.first, second);
    carried = k_.loop(from, segment.last, keys, carried,
                      [&](Value key, ValueRange inside) { return nextBlock(key, segment.isWhole, inside); });
  }
  Value blocks = k_.div(k_.sub(k_.sub(range_->last(), range_->first()), k_.number(1)), keys);
  Value last = k_.add(range_->first(), k_.mul(blocks, keys));
  if (!shape_.shared)
    ring_.waitUntilFull(stepOf(last, valueCopy()));
  const uint32_t sums = shape_.columns / 2;
  const ArrayRef<Value> all = carried;
  return core_.waitForProducts(0, weighted(ValueRange(all.drop_front(sums)), last, ValueRange(all.take_front(sums))));
}

void WarpgroupChain::consume() {
  k_.when(k_.equal(group_, k_.number(1)), [&] { passTurn(); }); // the first turn is the first consumer's
  bringLeft();
  const SmallVector<Type> types(shape_.columns / 2, k_.b.getF32Type());
  const Values sums = k_.choose(
      k_.less(range_->first(), range_->last()), types, [&] { return allBlocks(); },
      [&] { return Values(types.size(), neutral(k_, output_.product.sum.sum)); });
  // The last turn that was passed on is taken: no barrier is left half full.
  k_.when(k_.equal(group_, k_.number(0)), [&] { awaitTurn(); });
  Value rows = k_.add(tile_.firstRow, k_.mul(group_, k_.number(kGroupRows)));
  TileSpace space(output_, tile_.inBatch, rows, k_.number(0));
  Value arena = inArena(
      k_.add(k_.number(ringBytes(shape_) + allLeftBytes(shape_)), k_.mul(group_, k_.number(groupResultBytes()))));
  writeGroupResult(output_, space, thread_, arena, shape_.columns, sums);
}

void WarpgroupChain::run() {
  k_.wantResident(1);
  range_.emplace(kernel_, inner_.front().kernel, tile_, kWarpgroupChainRows, shape_.keys);
  Value fast = isFast();
  Value all = k_.number(kGroupThreads);
  Value filling = tensorMaps_.empty() ? all : k_.select(fast, k_.number(1), all);
  k_.when(k_.equal(k_.thread(), k_.number(0)), [&] { ring_.create(filling, kConsumers); });
  k_.barrier();
  k_.branch(
      k_.equal(group_, k_.number(kConsumers)),
      [&] {
        k_.leaveRegisters(kProducerRegisters);
        asTeam([&] { produce(fast); });
      },
      [&] {
        k_.takeRegisters(kConsumerRegisters);
        asTeam([&] { consume(); });
      });
}

} // namespace

std::optional<WarpgroupChainShape> WarpgroupChainShape::of(const GroupShape &shape, const Attention &attention) {
  auto isTaken = [](int64_t size) { return size == 64 || size == 128; };
  const Product &output = attention.output;
  const int64_t columns = shape.sizeOf(output.columns).value_or(0);
  if (!attention.isChain || !attention.tensorCoreElement() || !isTaken(columns) || output.right.isAlongReduced ||
      output.columns.size() != 1)
    return std::nullopt;
  const bool hasPlace = !attention.second ||
                        (columns == 64 && !readsAlongKeys(shape, attention) &&
                         shape.sizeOf(attention.scores.reduced) == 64 && shape.sizeOf(attention.second->reduced) == 64);
  WarpgroupChainShape found{{}, uint32_t(columns), hasPlace ? 128U : 64U, {}, {}, std::nullopt};
  const std::optional<TileMap> values = mapOf(shape, output, output.right, uint32_t(columns), found.keys);
  if (!values)
    return std::nullopt;
  found.valueMap = *values;
  for (const Product *product : attention.inner()) {
    const int64_t depth = shape.sizeOf(product->reduced).value_or(0);
    if (!isTaken(depth) || product->reduced.size() != 1 || !product->left.isAlongReduced ||
        !product->right.isAlongReduced)
      return std::nullopt;
    const std::optional<TileMap> map = mapOf(shape, *product, product->right, found.keys, kTileDepth);
    if (!map)
      return std::nullopt;
    if (depth == columns && bringTheSame(*map, product->reduced.front(), *values, output.columns.front()))
      found.shared = found.depths.size();
    found.depths.push_back(uint32_t(depth));
    found.rightMaps.push_back(*map);
  }
  return found;
}

SmallVector<const TileMap *> WarpgroupChainShape::maps() const {
  SmallVector<const TileMap *> all;
  for (const TileMap &map : rightMaps)
    all.push_back(&map);
  if (!shared)
    all.push_back(&valueMap);
  return all;
}

uint32_t warpgroupChainBytes(const WarpgroupChainShape &shape) {
  return ringBytes(shape) + bytesBesideRing(shape) + StageRing::bytes(slotsOf(shape));
}

void writeWarpgroupChain(const AttentionKernel &kernel, const WarpgroupChainShape &shape, ValueRange tensorMaps) {
  WarpgroupChain(kernel, shape, tensorMaps).run();
}

} // namespace tenon::compiler::codegen
