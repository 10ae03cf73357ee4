// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/chain/chain_block.h"

#include "compiler/codegen/contraction/operands/operand_tile.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kConsumers = ChainBlock::kConsumers;
// Registers of a thread. A block of 384 is given 168 each.
constexpr uint32_t kProducerRegisters = 24, kConsumerRegisters = 240;
// Barriers of the warpgroups begin behind 0, which is the block's; behind them those by which consumers take turns.
constexpr uint32_t kFirstBarrier = 1, kFirstTurn = kFirstBarrier + kConsumers + 1, kMeeting = kFirstTurn + kConsumers;
constexpr uint32_t kMostBytes = 227 << 10, kMostSlots = 12;
// Copies without a map: so many are on their way before the first is waited for.
constexpr uint32_t kCopiedAhead = 2;

uint32_t slotBytes(const WarpgroupChainShape &shape) {
  return shape.keys * std::max(*llvm::max_element(shape.depths), shape.columns) * 2;
}
uint32_t leftBytes(uint32_t depth) { // of a consumer
  return kGroupRows * depth * 2;
}
uint32_t allLeftBytes(const WarpgroupChainShape &shape) {
  uint32_t bytes = 0;
  for (uint32_t depth : shape.depths)
    bytes += kConsumers * leftBytes(depth);
  return bytes;
}
uint32_t vectorBytes(const WarpgroupChainShape &shape) { // of a stage
  return shape.vectors.size() * shape.keys * sizeof(float);
}
uint32_t bytesInFrontOfVectors(const WarpgroupChainShape &shape) { // behind the ring
  const uint32_t parts = kConsumers * groupResultBytes(shape.columns);
  return allLeftBytes(shape) + std::max({parts, shape.acrossBytes(), shape.allKeptBytes()}); // not at once
}
uint32_t slotsOf(const WarpgroupChainShape &shape) {
  const uint32_t free =
      kMostBytes - bytesInFrontOfVectors(shape) - StageRing::bytes(kMostSlots) - kMostSlots * vectorBytes(shape);
  return std::min(kMostSlots, free / slotBytes(shape));
}
uint32_t ringBytes(const WarpgroupChainShape &shape) {
  return slotsOf(shape) * slotBytes(shape);
}
uint32_t bytesBesideRing(const WarpgroupChainShape &shape) {
  return bytesInFrontOfVectors(shape) + slotsOf(shape) * vectorBytes(shape);
}

/// The same of another product.
ProductKernel ofProduct(const ProductKernel &kernel, const Product &product) {
  return {.kernel = kernel.kernel,
          .shape = kernel.shape,
          .product = product,
          .k = kernel.k,
          .space = kernel.space,
          .bodies = kernel.bodies,
          .rows = kernel.rows,
          .columns = kernel.columns,
          .cluster = kernel.cluster,
          .depth = kernel.depth,
          .tensorMaps = kernel.tensorMaps};
}

} // namespace

ChainBlock::ChainBlock(const AttentionKernel &kernel, const WarpgroupChainShape &shape, ValueRange tensorMaps)
    : kernel(kernel), shape(shape), tensorMaps(tensorMaps), k(kernel.k), core(k, kernel.attention.tensorCoreElement()),
      output(kernel.product(kernel.attention.output, kGroupRows, shape.columns, shape.keys)), arena(k.dynamicShared()),
      // The same for all threads of a warp, and the compiler shall know it.
      group(k.shuffleFrom(k.div(k.thread(), k.number(kGroupThreads)), k.number(0))),
      thread(k.rem(k.thread(), k.number(kGroupThreads))), isFirst(k.equal(thread, k.number(0))),
      ring(k, inArena(k.number(ringBytes(shape) + bytesBesideRing(shape))), slotsOf(shape)), tile(), head(k.number(0)),
      firstStep(k.number(0)), tiles_(kernel, shape) {
  // Rows of all consumers are a tile: there is no half of one.
  output.cluster = kConsumers;
  uint32_t used = ringBytes(shape);
  for (auto [product, depth, reduced] : llvm::zip_equal(kernel.attention.inner(), shape.depths, shape.reduced)) {
    Inner &each =
        inner.emplace_back(Inner{kernel.product(*product, kGroupRows, shape.keys, kTileDepth), depth, reduced, used});
    each.kernel.cluster = kConsumers;
    used += kConsumers * leftBytes(depth);
  }
}

uint32_t ChainBlock::bytes(const WarpgroupChainShape &shape) {
  return ringBytes(shape) + bytesBesideRing(shape) + StageRing::bytes(slotsOf(shape));
}

Value ChainBlock::slotOf(Value step) {
  return k.mul(ring.stageOf(step), k.number(slotBytes(shape)));
}

Value ChainBlock::leftOf(const Inner &each, Value consumer) {
  return k.add(k.number(each.left), k.mul(consumer, k.number(leftBytes(each.depth))));
}

uint32_t ChainBlock::exchange() const {
  return ringBytes(shape) + allLeftBytes(shape);
}

void ChainBlock::meetConsumers() {
  k.assembly("bar.sync " + std::to_string(kMeeting) + ", " + std::to_string(kConsumers * kGroupThreads) + ";", {}, "");
}

Value ChainBlock::keyOfNumber(Value number) {
  Value blocks = kernel.attention.heads() ? blocksOfHead() : Value();
  Value inHead = blocks ? k.rem(number, blocks) : number;
  Value key = k.add(range->first(), k.mul(inHead, k.number(shape.keys)));
  return blocks ? k.add(key, k.mul(k.div(number, blocks), kernel.space.size(kernel.attention.keys()))) : key;
}

Value ChainBlock::resultPart() {
  return inArena(
      k.add(k.number(ringBytes(shape) + allLeftBytes(shape)), k.mul(group, k.number(groupResultBytes(shape.columns)))));
}

Value ChainBlock::vectorsOf(Value key) {
  Value stage = ring.stageOf(stepOf(key, 0));
  return inArena(
      k.add(k.number(ringBytes(shape) + bytesInFrontOfVectors(shape)), k.mul(stage, k.number(vectorBytes(shape)))));
}

void ChainBlock::asTeam(llvm::function_ref<void()> body) {
  k.asTeam(thread, kGroupThreads, k.add(group, k.number(kFirstBarrier)), body);
}

/// Steps of the ring are counted through all of them.
void ChainBlock::forEachTile(llvm::function_ref<void()> body) {
  auto begin = [&](Value number) {
    tile = tiles_.at(number);
    range.emplace(kernel, inner.front().kernel, tile, kWarpgroupChainRows, shape.keys, /*isOfHead=*/true);
    body();
  };
  if (!tiles_.areTakenInTurn())
    return begin(k.block());
  Value none = k.number(0);
  k.loop(k.block(), tiles_.count(), k.blocks(), none, [&](Value number, ValueRange carried) {
    Bodies::Scope scope(kernel.bodies);
    // What a thread computes of its number would be computed in front of the loop, and take registers from all tiles.
    Value outside = thread;
    thread = k.opaque(thread);
    isFirst = k.equal(thread, none);
    firstStep = carried[0];
    begin(number);
    thread = outside;
    isFirst = k.equal(thread, none);
    Value steps = k.mul(k.mul(heads(), blocksOfHead()), k.number(shape.copies()));
    return Values{k.add(firstStep, k.select(k.less(range->first(), range->last()), steps, none))};
  });
  firstStep = none;
}

Value ChainBlock::stepOf(Value key, uint32_t copy) {
  Value block = k.div(k.sub(key, range->first()), k.number(shape.keys));
  if (kernel.attention.heads()) { // the block before the first is the last one of the head before
    Value next = k.div(k.sub(k.add(key, k.number(shape.keys)), range->first()), k.number(shape.keys));
    block = k.sub(k.add(next, k.mul(head, blocksOfHead())), k.number(1));
  }
  return k.add(k.add(k.mul(block, k.number(shape.copies())), firstStep), k.number(copy));
}

Value ChainBlock::blocksOfHead() {
  Value keys = k.sub(range->last(), range->first());
  return k.div(k.add(keys, k.number(shape.keys - 1)), k.number(shape.keys));
}

Value ChainBlock::inAllHeads(Value key) {
  return kernel.attention.heads() ? k.add(key, k.mul(head, kernel.space.size(kernel.attention.keys()))) : key;
}

/// Whether maps, or vectors, can copy.
Value ChainBlock::isFast() {
  Value all;
  for (uint32_t copy = 0; copy < shape.copies(); ++copy) {
    const ProductKernel &ofCopy = kernelOf(copy);
    TileSpace space(ofCopy, k.number(0), k.number(0), k.number(0));
    Value each = OperandTile(ofCopy, space, core, ofCopy.product.right).isAligned();
    all = all ? k.both(all, each) : each;
  }
  return all;
}

/// body(first key): of all heads, in the order of the ring.
void ChainBlock::forEachBlock(llvm::function_ref<void(Value)> body) {
  auto ofHead = [&] {
    k.loop(range->first(), range->last(), k.number(shape.keys), {}, [&](Value key, ValueRange) {
      Bodies::Scope scope(kernel.bodies);
      body(key);
      return Values();
    });
  };
  if (!kernel.attention.heads())
    return ofHead();
  Value first = head;
  k.loop(k.number(0), heads(), k.number(1), {}, [&](Value number, ValueRange) {
    head = number;
    ofHead();
    return Values();
  });
  head = first;
}

/// copy(first key, step, which)
void ChainBlock::forEachCopy(llvm::function_ref<void(Value, Value, uint32_t)> copy) {
  forEachBlock([&](Value key) {
    for (uint32_t number = 0; number < shape.copies(); ++number)
      copy(key, stepOf(key, number), number);
  });
}

/// One element of each; behind the last key it is the last one again.
void ChainBlock::bringVectors(Value key, Value position) {
  Bodies::Scope scope(kernel.bodies);
  Value first = inAllHeads(key);
  TileSpace space(inner.front().kernel, tile.inBatch, tile.firstRow, first);
  const KernelOp &op = *kernel.attention.logits;
  kernel.space.vectorAxis = kernel.attention.keys();
  kernel.bodies.setWidth(1);
  const Point point = space.resultAt(k.number(0), k.min(k.add(first, position), k.sub(space.columns(), k.number(1))));
  for (auto [number, input] : llvm::enumerate(shape.vectors)) {
    Value element = kernel.bodies.load(op, op.inputs[input].tensor, point)[0];
    Value index = k.add(position, k.number(int64_t(number) * shape.keys));
    k.store(element, k.at(vectorsOf(key), k.b.getF32Type(), index), sizeof(float));
  }
}

/// By a warp, while another asks for boxes.
void ChainBlock::bringVectorsByWarp() {
  Value lane = k.rem(thread, k.number(32));
  forEachBlock([&](Value key) {
    Value step = stepOf(key, 0);
    ring.waitUntilEmpty(step);
    k.loop(lane, k.number(shape.keys), k.number(32), {}, [&](Value position, ValueRange) {
      bringVectors(key, k.opaque(position));
      return Values();
    });
    k.syncWarp();
    k.when(k.equal(lane, k.number(0)), [&] { ring.fill(step); });
  });
}

void ChainBlock::askForBoxes(Value key, Value step, uint32_t copy) {
  const bool isInner = copy < inner.size();
  const ProductKernel &ofCopy = kernelOf(copy);
  const TileMap &map = isInner ? shape.rightMaps[copy] : shape.valueMap;
  TileSpace space(ofCopy, tile.inBatch, tile.firstRow, k.number(0));
  const uint32_t tiles = isInner ? inner[copy].depth / kTileDepth : map.boxes, bytes = shape.keys * kRowBytes;
  const unsigned keys = kernel.attention.keys(),
                 wide = isInner ? ofCopy.product.reduced.front() : ofCopy.product.right.across.front();
  ring.waitUntilEmpty(step);
  ring.expect(step, tiles * bytes);
  if (!shape.vectors.empty() && copy != 0)
    ring.fill(step); // in place of the warp that brings vectors
  for (uint32_t number = 0; number < tiles; ++number) {
    const Values position = map.beginAt(k, [&](unsigned axis) {
      return axis == keys                       ? key
             : axis == wide                     ? k.number(int64_t(number) * kTileDepth)
             : axis == kernel.attention.heads() ? head
                                                : space.inBatch(axis);
    });
    Value to = inArena(k.add(slotOf(step), k.number(int64_t(number) * bytes)));
    ring.copyBox(to, tensorMaps[copy], position, step);
  }
}

void ChainBlock::copyElements(Value key, Value step, uint32_t copy, bool isFast) {
  ring.waitUntilEmpty(step);
  const bool isInner = copy < inner.size();
  // Behind the last key of a head comes that one again, and not the first of the next head.
  Product product = kernelOf(copy).product;
  Value inBatch = tile.inBatch;
  if (const auto head = kernel.attention.heads()) {
    product.columns = product.right.across = {kernel.attention.keys()};
    product.batch.push_back(*head);
    inBatch = k.add(k.mul(inBatch, heads()), this->head);
  }
  const ProductKernel ofCopy = ofProduct(kernelOf(copy), product);
  TileSpace space(ofCopy, inBatch, tile.firstRow, isInner ? key : k.number(0));
  OperandTile operand(ofCopy, space, core, ofCopy.product.right);
  Value slot = slotOf(step);
  if (isInner)
    for (uint32_t part = 0; part < inner[copy].depth / kTileDepth; ++part)
      operand.bring(inArena(k.add(slot, k.number(int64_t(part) * shape.keys * kRowBytes))), k.number(part), isFast);
  else
    operand.bring(inArena(slot), k.div(key, k.number(shape.keys)), isFast);
  core.closeGroup();
  if (copy == 0 && !shape.vectors.empty())
    k.when(k.less(thread, k.number(shape.keys)), [&] { bringVectors(key, thread); });
}

/// A copy is handed over when it is there, which is seen when later ones have been asked for.
void ChainBlock::byElements(bool isFast) {
  auto handOver = [&](Value step, uint32_t pending) {
    core.waitForGroups(pending);
    core.publish();
    ring.fill(step);
  };
  forEachCopy([&](Value key, Value step, uint32_t copy) {
    copyElements(key, step, copy, isFast);
    k.when(k.less(k.number(kCopiedAhead - 1), k.sub(step, firstStep)),
           [&] { handOver(k.sub(step, k.number(kCopiedAhead)), kCopiedAhead); });
  });
  // The last ones: there are none, or as many as are ahead.
  Value steps = k.mul(k.mul(heads(), blocksOfHead()), k.number(shape.copies()));
  for (uint32_t left = kCopiedAhead; left > 0; --left)
    k.when(k.less(k.number(left - 1), steps),
           [&] { handOver(k.add(firstStep, k.sub(steps, k.number(left))), left - 1); });
}

void ChainBlock::produce(Value isFast) {
  auto byMaps = [&] {
    k.when(isFirst, [&] { forEachCopy([&](Value key, Value step, uint32_t copy) { askForBoxes(key, step, copy); }); });
    if (!shape.vectors.empty())
      k.when(k.equal(k.div(thread, k.number(32)), k.number(1)), [&] { bringVectorsByWarp(); });
  };
  auto fast = [&] { tensorMaps.empty() ? byElements(true) : byMaps(); };
  k.when(k.less(range->first(), range->last()), [&] { k.branch(isFast, fast, [&] { byElements(false); }); });
}

void ChainBlock::bringLeft() {
  for (const Inner &each : inner) {
    TileSpace space(each.kernel, tile.inBatch, rows(), k.number(0));
    OperandTile operand(each.kernel, space, core, each.kernel.product.left);
    auto bring = [&](bool isFast) {
      for (uint32_t part = 0; part < each.depth / kTileDepth; ++part)
        operand.bring(inArena(k.add(leftOf(each), k.number(int64_t(part) * kGroupRows * kRowBytes))), k.number(part),
                      isFast);
    };
    k.branch(operand.isAligned(), [&] { bring(true); }, [&] { bring(false); });
  }
  core.closeGroup();
  core.waitForGroups(0);
  core.publish();
  k.barrier(); // of the warpgroup
}

ChainBlock::Values ChainBlock::scoresOf(uint32_t number, Value key) {
  const Inner &each = inner[number];
  return core.multiplyTiles(descriptor(leftOf(each), 16), descriptor(slotOf(stepOf(key, number)), 16), each.reduced,
                            kGroupRows * kRowBytes, shape.keys * kRowBytes, shape.keys);
}

ChainBlock::Values ChainBlock::weighted(ValueRange factors, Value key, uint32_t copy, ValueRange sums) {
  return core.multiplyRegisters(factors, descriptor(slotOf(stepOf(key, copy)), shape.keys * kRowBytes), 16 * 128,
                                shape.results, sums);
}

void ChainBlock::turn(const char *instruction, Value barrier) {
  k.assembly(std::string(instruction) + " $0, " + std::to_string(kConsumers * kGroupThreads) + ";", {k.word(barrier)},
             "r");
}

void ChainBlock::awaitTurn() {
  turn("bar.sync", k.add(group, k.number(kFirstTurn)));
}

void ChainBlock::passTurn() {
  turn("bar.arrive", k.sub(k.number(kFirstTurn + 1), group));
}

ChainBlock::Values ChainBlock::factorsOf(ArrayRef<Values> weights, Value key, Kind kind) {
  Values factors = factorsOfGroup(core, weights);
  if (!kind.mayEnd)
    return factors;
  const std::optional<int64_t> known = kernel.shape.axes[kernel.attention.keys()].size;
  Value left = k.sub(kernel.space.size(kernel.attention.keys()), key);
  auto hidden = [&] {
    Values shown = factors;
    hideFactors(k, thread, left, known && *known % 2 == 0, shown);
    return shown;
  };
  const SmallVector<Type> types(factors.size(), k.b.getI32Type());
  return k.choose(k.less(left, k.number(shape.keys)), types, hidden, [&] { return factors; });
}

SmallVector<ChainBlock::Segment> ChainBlock::segments() const {
  SmallVector<Segment> found;
  for (const KeyRange::Segment &each : range->segments())
    found.push_back({each.first, each.last, {each.isWhole, !each.isWhole && range->mayEnd()}});
  if (!range->isKnown() || range->mayHideLast() || !range->mayEnd() || kernel.attention.across)
    return found;
  Value last = found.pop_back_val().last;
  found.back().last = last;
  found.back().kind.mayEnd = true;
  return found;
}

void ChainBlock::release(Value step) {
  k.when(isFirst, [&] { ring.empty(step); });
}

void ChainBlock::releaseLast(Value key, ArrayRef<uint32_t> copies) {
  if (!tiles_.areTakenInTurn())
    return;
  k.barrier(); // all warps have read it, and the left factors
  for (uint32_t copy : copies)
    release(stepOf(key, copy));
}

void ChainBlock::run(llvm::function_ref<void()> consume) {
  k.wantResident(1);
  Value fast = isFast();
  Value all = k.number(kGroupThreads);
  Value filling = tensorMaps.empty() ? all : k.select(fast, k.number(shape.vectors.empty() ? 1 : 2), all);
  k.when(k.equal(k.thread(), k.number(0)), [&] { ring.create(filling, kConsumers); });
  k.barrier();
  k.branch(
      k.equal(group, k.number(kConsumers)),
      [&] {
        k.leaveRegisters(kProducerRegisters);
        forEachTile([&] { asTeam([&] { produce(fast); }); });
      },
      [&] {
        k.takeRegisters(kConsumerRegisters);
        // The first turn is the first consumer's.
        k.when(k.equal(group, k.number(1)), [&] { passTurn(); });
        forEachTile([&] { asTeam(consume); });
        // The last turn that was passed on is taken: no barrier is left half full.
        k.when(k.equal(group, k.number(0)), [&] { awaitTurn(); });
      });
}

} // namespace tenon::compiler::codegen
