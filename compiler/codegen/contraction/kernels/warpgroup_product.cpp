// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/warpgroup_product.h"

#include "compiler/codegen/contraction/computed_tile.h"
#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/operand_tile.h"
#include "compiler/codegen/contraction/result_tile.h"
#include "compiler/codegen/contraction/stage_ring.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/ptx/early_launch.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kStepBytes = kWarpgroupStepBytes;
// Of a multiprocessor, for the operands of steps to come. More of them hide more of the second-level cache's latency.
constexpr uint32_t kOperandBytes = 192 << 10;
constexpr uint32_t kGroupRows = 64, kGroupThreads = 128, kConsumers = 2;
// Columns of a result that a consumer has in shared memory at once.
constexpr uint32_t kPartColumns = 64;
// Registers of a thread. A block of 384 is given 168 each; sums alone take up to 128.
constexpr uint32_t kProducerRegisters = 88, kConsumerRegisters = 208;
// Where a step has sums of its own, which take up to 96 more.
constexpr uint32_t kFewProducerRegisters = 56, kManyConsumerRegisters = 224;
// Of a block of 512, which is given 128 each: two warpgroups that compute an operand.
constexpr uint32_t kComputingRegisters = 88, kFedRegisters = 168;
constexpr uint32_t kMostColumnsAtOnce = 192, kColumnsAtOnce = 128;
// Copies without a map: so many steps are on their way before the first is waited for.
constexpr uint32_t kCopiedAhead = 2;
// Barriers of the three warpgroups begin behind 0, which is the block's.
constexpr uint32_t kFirstBarrier = 1;
constexpr uint32_t kFewBlocks = 64;

uint32_t stageBytesOf(uint32_t rows, uint32_t columns) {
  return (rows + columns) * kStepBytes;
}
uint32_t stagesOf(uint32_t rows, uint32_t columns) {
  return kOperandBytes / stageBytesOf(rows, columns);
}
/// Of one consumer. Boxes of a result begin at multiples of 1024.
uint32_t partBytes() {
  return llvm::alignTo<1024>(std::max(stagedBytes(kGroupRows, kPartColumns, sizeof(float)), NarrowResult::bytes()));
}

class WarpgroupProduct {
public:
  explicit WarpgroupProduct(const ProductKernel &kernel)
      : kernel_(kernel), k_(kernel.k), core_(k_, kernel.product.warpElement(), kernel.product.rightWarpElement()),
        producers_(k_.threads / kGroupThreads - kConsumers), stages_(stagesOf(kernel.rows, kernel.columns)),
        first_(kernel_) {
    if (kernel_.tensorMaps.empty())
      return;
    if (kernel_.product.routes) {
      rightMap_ = mapOf(kernel_.shape, kernel_.product, kernel_.product.right, kernel_.columns, kernel_.depth);
      return;
    }
    computed_ = ComputedTile::operandOf(kernel_.product, kernel_.shape);
    const uint32_t ofLeft = kernel_.isSideBySide ? kernel_.cluster : 1, ofRight = kernel_.cluster / ofLeft;
    leftMap_ = mapOf(kernel_.shape, kernel_.product, kernel_.product.left, kernel_.rows, kernel_.depth, ofLeft);
    rightMap_ = mapOf(kernel_.shape, kernel_.product, kernel_.product.right, kernel_.columns, kernel_.depth, ofRight);
  }

  void run();

private:
  using Values = SmallVector<Value>;

  // A tile that is being computed: where it lies, and its operands in shared memory.
  struct Tile {
    Tile(const ProductKernel &kernel, TensorCore &core, Value number)
        : space(kernel, number), left(kernel, space, core, kernel.product.left, /*isRounded=*/true),
          right(kernel, space, core, kernel.product.right, /*isRounded=*/true) {}
    TileSpace space;
    OperandTile left, right;
  };

  /// Of both operands, or of that which is not computed.
  bool hasMaps() const { return (leftMap_ && rightMap_) || (computed_ && (leftMap_ || rightMap_)); }
  ComputedTile computedTile(Tile &tile) {
    return {kernel_, tile.space, computed_ == &kernel_.product.left ? tile.left : tile.right, kGroupThreads};
  }
  /// Whether the right operand comes as boxes and threads bring the left one's rows.
  bool isMixed() const { return !computed_ && !leftMap_ && rightMap_; }
  bool isInCluster() const { return kernel_.cluster > 1; }
  /// Most multiprocessors are free: the next kernel's blocks need not wait for the end of these. Of many, those of the
  /// next would be crowded where these end first.
  bool isOfFewBlocks() {
    Value blocks = k_.mul(first_.tiles(), k_.number(kernel_.cluster));
    return KernelBuilder::known(k_.less(blocks, k_.number(kFewBlocks + 1))).value_or(false);
  }
  /// Whether each consumer has rows of the tile; else it has columns.
  bool areRowsDivided() const { return kernel_.rows == kConsumers * kGroupRows; }
  uint32_t groupColumns() const { return areRowsDivided() ? kernel_.columns : kernel_.columns / kConsumers; }
  bool hasManySums() const { return kernel_.product.addsSteps() && groupColumns() > kColumnsAtOnce; }
  Value firstRow() { return k_.mul(group_, k_.number(areRowsDivided() ? kGroupRows : 0)); }
  Value firstColumn() { return k_.mul(group_, k_.number(areRowsDivided() ? 0 : groupColumns())); }
  Value stageBytes(Value step) {
    return k_.mul(ring_->stageOf(step), k_.number(stageBytesOf(kernel_.rows, kernel_.columns)));
  }
  Value inArena(Value bytes) { return k_.at(arena_, k_.b.getI8Type(), bytes); }
  /// body(tile, its first step): for each tile of this block. Steps are numbered through all of them.
  /// @return how many there are
  Value forEachTile(llvm::function_ref<void(Tile &, Value)> body);
  void forEachStep(llvm::function_ref<void(Value)> body);

  void produce();
  void askForBoxes();
  void askForBoxes(Tile &tile, Value step, Value inTile);
  void computeTiles();
  void askFor(const TileMap &map, Value tensorMap, Tile &tile, const Operand &operand, Value to, Value reduced,
              Value step, bool isShared);
  void copyElements(bool isFast);
  void copyRows();
  void waitUntilFull(const Tile &tile, Value step);

  void consume();
  void tellEmpty(Value step, Value condition = {}); // null: always
  Value descriptor(const OperandTile &tile, Value address);
  TensorCore::Step operandsOf(const Tile &tile, Value step);
  Values multiply(const Tile &tile, Value first);
  Values multiplyAndAdd(const Tile &tile, Value first);
  void write(Tile &tile, const Values &sums);
  Value resultArena();

  ProductKernel kernel_;
  KernelBuilder &k_;
  TensorCore core_;
  const uint32_t producers_; // of the warpgroups; two compute an operand, and take turns
  const uint32_t stages_;    // steps whose operands shared memory holds
  TileSpace first_;          // for sizes, which are those of all tiles
  std::optional<TileMap> leftMap_, rightMap_;
  const Operand *computed_ = nullptr; // that the producer computes; null: none
  Value arena_;
  Value group_;  // number of the warpgroup
  Value thread_; // in it
  Value count_;  // steps of a tile
  Value rank_;   // of the block in its cluster
  Value isFast_; // boxes are copied, or vectors; else elements
  std::optional<StageRing> ring_;
};

Value WarpgroupProduct::forEachTile(llvm::function_ref<void(Tile &, Value)> body) {
  Value clusters = k_.number(kernel_.cluster);
  return k_
      .loop(k_.div(k_.block(), clusters), first_.tiles(), k_.div(k_.blocks(), clusters), k_.number(0),
            [&](Value number, ValueRange carried) {
              Bodies::Scope scope(kernel_.bodies);
              Tile tile(kernel_, core_, number);
              body(tile, carried[0]);
              return Values{k_.add(carried[0], count_)};
            })
      .front();
}

void WarpgroupProduct::forEachStep(llvm::function_ref<void(Value)> body) {
  k_.loop(k_.number(0), count_, k_.number(1), {}, [&](Value step, ValueRange) {
    body(step);
    return Values();
  });
}

void WarpgroupProduct::askFor(const TileMap &map, Value tensorMap, Tile &tile, const Operand &operand, Value to,
                              Value reduced, Value step, bool isShared) {
  Value across = &operand == &kernel_.product.left ? tile.space.firstRow() : tile.space.firstColumn();
  const uint32_t boxes = isShared ? map.boxes / kernel_.cluster : map.boxes;
  Value first = isShared ? k_.mul(rank_, k_.number(boxes)) : k_.number(0);
  for (uint32_t box = 0; box < boxes; ++box) {
    Value inTile = k_.mul(k_.add(first, k_.number(box)), k_.number(map.across));
    for (uint32_t deep = 0; deep < map.boxesDeep; ++deep) {
      Value inStep = k_.number(deep * (kernel_.depth / map.boxesDeep));
      const Values position = map.beginAt(
          k_, tile.space.beginOf(operand, k_.add(across, inTile), k_.add(reduced, inStep)), tile.space.expert());
      // So many positions are as many rows of a step's bytes, whichever way they lie.
      Value place = k_.at(to, k_.b.getI8Type(), k_.mul(k_.add(inTile, inStep), k_.number(kStepBytes)));
      ring_->copyBox(place, tensorMap, position, step, isShared ? kernel_.cluster : 0);
    }
  }
}

/// Those of a step, of the operands that have maps.
void WarpgroupProduct::askForBoxes(Tile &tile, Value step, Value inTile) {
  Value to = inArena(stageBytes(step)), reduced = k_.mul(inTile, k_.number(kernel_.depth));
  ring_->expect(step, (leftMap_ ? tile.left.bytes() : 0) + (rightMap_ ? tile.right.bytes() : 0));
  if (leftMap_)
    askFor(*leftMap_, kernel_.tensorMaps[0], tile, kernel_.product.left, to, reduced, step,
           isInCluster() && kernel_.isSideBySide);
  if (rightMap_)
    askFor(*rightMap_, kernel_.tensorMaps[1], tile, kernel_.product.right,
           k_.at(to, k_.b.getI8Type(), k_.number(tile.left.bytes())), reduced, step,
           isInCluster() && !kernel_.isSideBySide);
}

void WarpgroupProduct::askForBoxes() {
  k_.when(k_.equal(thread_, k_.number(0)), [&] {
    forEachTile([&](Tile &tile, Value first) {
      forEachStep([&](Value inTile) {
        Value step = k_.add(first, inTile);
        ring_->waitUntilEmpty(step);
        askForBoxes(tile, step, inTile);
      });
    });
  });
}

/// One thread asks for boxes of the other operand. What the warpgroup's next steps are computed from is carried from
/// round to round, each step's in registers of its own: to move what is on its way would wait for it. Behind the last
/// step it is that of the last again.
void WarpgroupProduct::computeTiles() {
  Value lane = k_.rem(thread_, k_.number(32)), turn = k_.sub(group_, k_.number(kConsumers));
  const uint32_t turns = producers_;
  forEachTile([&](Tile &tile, Value first) {
    ComputedTile computed = computedTile(tile);
    const uint32_t ahead = computed.stepsAhead();
    Value last = k_.sub(count_, k_.number(1));
    auto load = [&](Value step) { return computed.load(k_.min(step, last)); };
    Values loaded;
    for (uint32_t step = 0; step < ahead; ++step)
      llvm::append_range(loaded, load(k_.add(turn, k_.number(step * turns))));
    const size_t ofStep = loaded.size() / ahead;
    auto compute = [&](Value inTile, ValueRange from) {
      Bodies::Scope scope(kernel_.bodies);
      Value step = k_.add(first, inTile);
      ring_->waitUntilEmpty(step);
      k_.when(k_.equal(thread_, k_.number(0)), [&] { askForBoxes(tile, step, inTile); });
      Value to = inArena(stageBytes(step));
      if (computed_ == &kernel_.product.right)
        to = k_.at(to, k_.b.getI8Type(), k_.number(tile.left.bytes()));
      computed.put(to, inTile, from);
      core_.publish();
      k_.syncWarp();
      k_.when(k_.equal(lane, k_.number(0)), [&] { ring_->fill(step); });
    };
    k_.loop(turn, count_, k_.number(ahead * turns), loaded, [&](Value round, ValueRange carried) {
      Values next;
      for (uint32_t step = 0; step < ahead; ++step) {
        Value inTile = k_.add(round, k_.number(step * turns));
        auto computeStep = [&] { compute(inTile, carried.slice(step * ofStep, ofStep)); };
        step == 0 ? computeStep() : k_.when(k_.less(inTile, count_), computeStep);
        llvm::append_range(next, load(k_.add(inTile, k_.number(ahead * turns))));
      }
      return next;
    });
  });
}

/// A step is handed over when its copies are there, which is seen when those of later steps have been asked for.
void WarpgroupProduct::copyElements(bool isFast) {
  auto handOver = [&](Value step, uint32_t pending) {
    core_.waitForGroups(pending);
    core_.publish();
    ring_->fill(step);
  };
  Value ahead = k_.number(kCopiedAhead);
  Value steps = forEachTile([&](Tile &tile, Value first) {
    forEachStep([&](Value inTile) {
      Bodies::Scope scope(kernel_.bodies);
      Value step = k_.add(first, inTile), to = inArena(stageBytes(step));
      ring_->waitUntilEmpty(step);
      tile.left.bring(to, inTile, isFast);
      tile.right.bring(k_.at(to, k_.b.getI8Type(), k_.number(tile.left.bytes())), inTile, isFast);
      core_.closeGroup();
      k_.when(k_.less(k_.number(kCopiedAhead - 1), step), [&] { handOver(k_.sub(step, ahead), kCopiedAhead); });
    });
  });
  // The last ones of the last tile.
  for (uint32_t left = kCopiedAhead; left > 0; --left)
    k_.when(k_.less(k_.number(left - 1), steps), [&] { handOver(k_.sub(steps, k_.number(left)), left - 1); });
}

/// One thread asks for the right operand's boxes, all bring the left operand's rows. Copies of rows tell the barrier
/// themselves that they are done: the producer goes on to the next step.
void WarpgroupProduct::copyRows() {
  forEachTile([&](Tile &tile, Value first) {
    std::optional<OperandTile::Runs> runs;
    if (tile.left.hasRuns())
      runs = tile.left.findRuns();
    forEachStep([&](Value inTile) {
      Bodies::Scope scope(kernel_.bodies);
      Value step = k_.add(first, inTile), to = inArena(stageBytes(step));
      Value right = k_.at(to, k_.b.getI8Type(), k_.number(tile.left.bytes()));
      ring_->waitUntilEmpty(step);
      k_.when(k_.equal(thread_, k_.number(0)), [&] {
        ring_->expect(step, tile.right.bytes());
        askFor(*rightMap_, kernel_.tensorMaps[0], tile, kernel_.product.right, right,
               k_.mul(inTile, k_.number(kernel_.depth)), step, /*isShared=*/false);
      });
      runs ? tile.left.bringRuns(to, inTile, *runs) : tile.left.bring(to, inTile, /*isFast=*/true);
      if (tile.left.isCopied())
        return ring_->fillWhenCopied(step);
      core_.publish();
      ring_->fill(step);
    });
  });
}

/// What threads have copied is seen by `wgmma`, too.
void WarpgroupProduct::waitUntilFull(const Tile &tile, Value step) {
  ring_->waitUntilFull(step);
  if (isMixed() && tile.left.isCopied())
    core_.publish();
}

void WarpgroupProduct::produce() {
  k_.leaveRegisters(producers_ > 1 ? kComputingRegisters : hasManySums() ? kFewProducerRegisters : kProducerRegisters);
  auto copy = [&](bool isFast) {
    if (producers_ == 1)
      return copyElements(isFast);
    k_.when(k_.equal(group_, k_.number(kConsumers)), [&] { copyElements(isFast); });
  };
  auto fast = [&] {
    if (hasMaps())
      return computed_ ? computeTiles() : askForBoxes();
    isMixed() ? copyRows() : copy(true);
  };
  k_.asTeam(thread_, kGroupThreads, k_.add(group_, k_.number(kFirstBarrier)),
            [&] { k_.branch(isFast_, fast, [&] { copy(false); }); });
}

/// Where a tile begins, in 16 bytes, how far eight rows are from the next eight, blocks of 64 positions from each
/// other, and that rows of 128 bytes are swizzled.
Value WarpgroupProduct::descriptor(const OperandTile &tile, Value address) {
  constexpr uint64_t kEightRows = 8 * 128 / 16, kSwizzle128 = uint64_t(1) << 62;
  const uint64_t block = tile.liesAlongReduced() ? 1 : kernel_.depth * 128 / 16;
  Value start = k_.rem(k_.div(address, k_.number(16)), k_.number(1 << 14));
  return arith::OrIOp::create(k_.b, k_.loc, start, k_.number(int64_t(block << 16 | kEightRows << 32 | kSwizzle128)));
}

TensorCore::Step WarpgroupProduct::operandsOf(const Tile &tile, Value step) {
  constexpr uint32_t kAlong = 16 * 2, kAcross = 16 * 128;
  Value arena = k_.add(LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), arena_), stageBytes(step));
  // So many positions are as many bytes, whichever way they lie.
  auto ofConsumer = [&](uint32_t positions) { return k_.mul(group_, k_.number(positions * kStepBytes)); };
  Value left = arena, right = k_.add(arena, k_.number(tile.left.bytes()));
  (areRowsDivided() ? left : right) =
      areRowsDivided() ? k_.add(left, ofConsumer(kGroupRows)) : k_.add(right, ofConsumer(groupColumns()));
  const bool leftAlong = tile.left.liesAlongReduced(), rightAlong = tile.right.liesAlongReduced();
  return {.left = descriptor(tile.left, left),
          .right = descriptor(tile.right, right),
          .leftBytes = leftAlong ? kAlong : kAcross,
          .rightBytes = rightAlong ? kAlong : kAcross,
          .leftIsAcross = !leftAlong,
          .rightIsAcross = !rightAlong};
}

/// By one thread of a consumer for each block that fills the stage. Of copied elements every block fills its own.
void WarpgroupProduct::tellEmpty(Value step, Value condition) {
  auto onlyIf = [&](Value isTeller) { return condition ? k_.both(isTeller, condition) : isTeller; };
  if (!isInCluster())
    return k_.when(onlyIf(k_.equal(thread_, k_.number(0))), [&] { ring_->empty(step); });
  Value fillers = k_.select(isFast_, k_.number(kernel_.cluster), k_.number(1));
  k_.when(onlyIf(k_.less(thread_, fillers)), [&] { ring_->emptyFor(step, k_.select(isFast_, thread_, rank_)); });
}

/// Of f8: what a step comes to is added to the sums of all steps (product.h). Wide tiles take two turns, so that sums
/// of steps need fewer registers. While one consumer adds, the other one's products run.
WarpgroupProduct::Values WarpgroupProduct::multiplyAndAdd(const Tile &tile, Value first) {
  static_assert(kStepBytes <= kMostNarrowlySummed);
  const uint32_t columns = groupColumns(), atOnce = columns <= kMostColumnsAtOnce ? columns : kColumnsAtOnce;
  const Values none(kGroupRows * columns / kGroupThreads, neutral(k_, kernel_.product.sum.sum));
  return k_.loop(k_.number(0), count_, k_.number(1), none, [&](Value inTile, ValueRange carried) {
    Value step = k_.add(first, inTile);
    waitUntilFull(tile, step);
    Values sums = llvm::to_vector(carried);
    Value *sum = sums.begin();
    for (uint32_t begin = 0; begin < columns; begin += atOnce) {
      TensorCore::Step operands = operandsOf(tile, step);
      operands.right = k_.add(operands.right, k_.number(begin * kStepBytes / 16));
      const Values products = core_.waitForProducts(0, core_.multiplyGroup(operands, atOnce));
      if (begin + atOnce == columns)
        tellEmpty(step);
      for (Value product : products) {
        *sum = arith::AddFOp::create(k_.b, k_.loc, *sum, product);
        ++sum;
      }
    }
    return sums;
  });
}

/// The product of a step runs on while the next one begins; then its stage is empty.
WarpgroupProduct::Values WarpgroupProduct::multiply(const Tile &tile, Value first) {
  if (kernel_.product.addsSteps())
    return multiplyAndAdd(tile, first);
  Values sums(kGroupRows * groupColumns() / kGroupThreads, neutral(k_, kernel_.product.sum.sum));
  sums = k_.loop(k_.number(0), count_, k_.number(1), sums, [&](Value inTile, ValueRange carried) {
    Value step = k_.add(first, inTile), isLater = k_.less(k_.number(0), inTile);
    waitUntilFull(tile, step);
    Value keeps = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI32Type(), isLater);
    Values next = core_.waitForProducts(1, core_.multiplyGroup(operandsOf(tile, step), groupColumns(), keeps, carried));
    tellEmpty(k_.sub(step, k_.number(1)), isLater);
    return next;
  });
  sums = core_.waitForProducts(0, sums);
  tellEmpty(k_.sub(k_.add(first, count_), k_.number(1)), k_.less(k_.number(0), count_));
  return sums;
}

/// Lane l of a warp holds columns 2 (l % 4) and the next of each eight, of row l / 4 and of the eighth behind it.
void WarpgroupProduct::write(Tile &tile, const Values &sums) {
  Value lane = k_.rem(thread_, k_.number(32)), warp = k_.div(thread_, k_.number(32));
  Value row = k_.add(k_.mul(warp, k_.number(16)), k_.div(lane, k_.number(4)));
  Value pair = k_.mul(k_.rem(lane, k_.number(4)), k_.number(2));
  SmallVector<ResultPart> parts;
  for (uint32_t first = 0; first < groupColumns(); first += kPartColumns) {
    ResultPart &part = parts.emplace_back();
    part.rows = kGroupRows;
    part.columns = std::min(kPartColumns, groupColumns() - first);
    part.rowOf = [this](Value inPart) { return k_.add(inPart, firstRow()); };
    part.columnOf = [this, first](Value inPart) { return k_.add(k_.add(inPart, k_.number(first)), firstColumn()); };
    for (uint32_t column = 0; column < part.columns / 8; ++column)
      for (uint32_t half = 0; half < 2; ++half) {
        const Value *values = sums.begin() + 4 * (first / 8 + column) + 2 * half;
        part.runs.push_back(
            {k_.add(row, k_.number(8 * half)), k_.add(pair, k_.number(8 * column)), Values(values, values + 2)});
      }
  }
  writeResult(kernel_, tile.space, resultArena(), parts);
}

Value WarpgroupProduct::resultArena() {
  Value behindStages = k_.number(int64_t(stages_) * stageBytesOf(kernel_.rows, kernel_.columns));
  return inArena(k_.add(behindStages, k_.mul(group_, k_.number(partBytes()))));
}

void WarpgroupProduct::consume() {
  k_.takeRegisters(producers_ > 1 ? kFedRegisters : hasManySums() ? kManyConsumerRegisters : kConsumerRegisters);
  k_.asTeam(thread_, kGroupThreads, k_.add(group_, k_.number(kFirstBarrier)), [&] {
    std::optional<NarrowResult> narrow = NarrowResult::of(kernel_);
    Value isNarrow = narrow ? narrow->isAligned() : Value();
    Value map = kernel_.tensorMaps.size() > 2 ? kernel_.tensorMaps[2] : Value();
    forEachTile([&](Tile &tile, Value first) {
      const Values sums = multiply(tile, first);
      if (!narrow)
        return write(tile, sums);
      k_.branch(
          isNarrow, [&] { narrow->write(tile.space, firstRow(), firstColumn(), resultArena(), sums, map); },
          [&] { write(tile, sums); });
    });
    if (map)
      k_.when(isNarrow, [&] { narrow->finish(); });
  });
}

void WarpgroupProduct::run() {
  k_.wantResident(1);
  arena_ = k_.dynamicShared();
  const uint32_t stageBytes = stages_ * stageBytesOf(kernel_.rows, kernel_.columns);
  ring_.emplace(k_, inArena(k_.number(stageBytes + kConsumers * partBytes())), stages_);
  count_ = k_.div(k_.add(first_.reduced(), k_.number(kernel_.depth - 1)), k_.number(kernel_.depth));
  // The same for all threads of a warp, and the compiler shall know it.
  group_ = k_.shuffleFrom(k_.div(k_.thread(), k_.number(kGroupThreads)), k_.number(0));
  thread_ = k_.rem(k_.thread(), k_.number(kGroupThreads));
  if (isInCluster())
    k_.requireClusters(kernel_.cluster);
  rank_ = k_.rem(k_.block(), k_.number(kernel_.cluster));
  Value number = k_.div(k_.block(), k_.number(kernel_.cluster)); // of the first tile
  Tile any(kernel_, core_, number);
  auto isAligned = [&](OperandTile &tile) {
    return hasMaps() && &tile.operand() == computed_ ? computedTile(any).isAligned() : tile.isAligned();
  };
  isFast_ = k_.both(isAligned(any.left), isAligned(any.right));
  // Of a stage: one thread that asks for boxes and one of each warp that computes, all that copy, or both.
  const uint32_t asking = 1 + (computed_ ? kGroupThreads / 32 : 0);
  Value copying = k_.number(kGroupThreads), filling = copying;
  if (hasMaps() || isMixed())
    filling = k_.select(isFast_, k_.number(hasMaps() ? asking : kGroupThreads + 1), copying);
  Value emptying = k_.select(isFast_, k_.number(kConsumers * kernel_.cluster), k_.number(kConsumers));
  k_.when(k_.equal(k_.thread(), k_.number(0)), [&] {
    ring_->create(filling, emptying);
    for (Value map : kernel_.tensorMaps)
      if (map)
        k_.assembly("prefetch.tensormap [$0];", {map}, "l");
  });
  isInCluster() ? k_.meetInCluster() : k_.barrier();
  k_.assembly(kWaitForEarlierLaunches.str(), {}, ""); // barriers and maps are there when the operands are
  if (isOfFewBlocks())
    k_.assembly(kLaunchNext.str(), {}, "");
  // The launch may have a block for each of the smaller tiles that other targets compute.
  k_.when(k_.less(number, first_.tiles()),
          [&] { k_.branch(k_.less(group_, k_.number(kConsumers)), [&] { consume(); }, [&] { produce(); }); });
  // Others bring bytes to this block's memory, and tell it what they have read.
  if (isInCluster())
    k_.meetInCluster();
}

} // namespace

uint32_t warpgroupDepth(Type element) {
  return kStepBytes * 8 / element.getIntOrFloatBitWidth();
}

bool isWarpgroupTile(int64_t rows, int64_t columns, const Operand &right) {
  if (rows == 128)
    return columns == 64 || columns == 128 || columns == 192 || columns == 256;
  // Across, 64 positions are a block, which two consumers do not share.
  return rows == 64 &&
         (columns == 128 || columns == 256 || ((columns == 64 || columns == 192) && right.isAlongReduced));
}

uint32_t warpgroupSharedBytes(uint32_t rows, uint32_t columns) {
  const uint32_t stages = stagesOf(rows, columns);
  return stages * stageBytesOf(rows, columns) + kConsumers * partBytes() + StageRing::bytes(stages);
}

void writeWarpgroupProduct(ProductKernel kernel) {
  if (kernel.product.routes) // which tiles there are is known when the table is
    kernel.k.assembly(kWaitForEarlierLaunches.str(), {}, "");
  kernel.depth = warpgroupDepth(kernel.product.left.value.getType());
  WarpgroupProduct(kernel).run();
}

} // namespace tenon::compiler::codegen
