// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/divided_sums.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_roles.h"

using namespace mlir;

namespace tenon::compiler::codegen {

namespace {

// Copies without a map: so many steps are on their way before the first is waited for.
constexpr uint32_t kCopiedAhead = 2;

} // namespace

void WarpgroupProduct::askFor(const TileMap &map, Value tensorMap, Tile &tile, const Operand &operand, Value to,
                              Value reduced, Value step, bool isShared) {
  Value across = &operand == &kernel_.product.left ? tile.space.firstRow() : tile.space.firstColumn();
  const uint32_t boxes = isShared ? map.boxes / kernel_.cluster : map.boxes;
  Value first = isShared ? k_.mul(rank_, k_.number(boxes)) : k_.number(0);
  auto ask = [&](uint32_t box) {
    Value inTile = k_.mul(k_.add(first, k_.number(box)), k_.number(map.across));
    for (uint32_t deep = 0; deep < map.boxesDeep; ++deep) {
      Value inStep = k_.number(deep * (kernel_.depth / map.boxesDeep));
      const Values position = map.beginAt(
          k_, tile.space.beginOf(operand, k_.add(across, inTile), k_.add(reduced, inStep)), tile.space.expert());
      // So many positions are as many rows of a step's bytes, whichever way they lie.
      Value place = k_.at(to, k_.b.getI8Type(), k_.mul(k_.add(inTile, inStep), k_.number(kStepBytes)));
      ring_->copyBox(place, tensorMap, position, step, isShared ? kernel_.cluster : 0);
    }
  };
  for (uint32_t box = 0; box < boxes; ++box) {
    if (map.mayLack && box != 0)
      k_.when(k_.less(k_.number(box), boxesOf(map, tile, operand)), [&] { ask(box); });
    else
      ask(box);
  }
}

Value WarpgroupProduct::boxesOf(const TileMap &map, Tile &tile, const Operand &operand) {
  if (!map.mayLack)
    return k_.number(map.boxes);
  // One at least, also of a block of a pair that has no row.
  const bool isLeft = &operand == &kernel_.product.left;
  Value first = isLeft ? tile.space.firstRow() : tile.space.firstColumn(),
        end = isLeft ? tile.space.rows() : tile.space.columns();
  Value positions = k_.select(k_.less(first, end), k_.sub(end, first), k_.number(1));
  return k_.min(k_.number(map.boxes), k_.div(k_.add(positions, k_.number(map.across - 1)), k_.number(map.across)));
}

/// Those of a step, of the operands that have maps.
void WarpgroupProduct::askForBoxes(Tile &tile, Value step, Value inTile) {
  Value to = inArena(stageBytes(step)), reduced = k_.mul(inTile, k_.number(kernel_.depth));
  Value bytes = k_.number(0);
  auto add = [&](const TileMap &map, const Operand &operand) {
    bytes = k_.add(bytes, k_.mul(boxesOf(map, tile, operand), k_.number(map.bytes() / map.boxes)));
  };
  if (rightMap_)
    add(*rightMap_, kernel_.product.right);
  if (leftMap_)
    add(*leftMap_, kernel_.product.left);
  ring_->expect(step, bytes);
  if (leftMap_)
    askFor(*leftMap_, kernel_.tensorMaps[0], tile, kernel_.product.left, to, reduced, step,
           isInCluster() && kernel_.isSideBySide);
  if (rightMap_)
    askFor(*rightMap_, kernel_.tensorMaps[1], tile, kernel_.product.right,
           k_.at(to, k_.b.getI8Type(), k_.number(tile.left.bytes())), reduced, step,
           isInCluster() && !kernel_.isSideBySide);
}

void WarpgroupProduct::askForBoxes(Tile &tile, const Part &part) {
  forEachStep(part, [&](Value step, Value inTile) {
    ring_->waitUntilEmpty(step);
    askForBoxes(tile, step, inTile);
  });
}

void WarpgroupProduct::askForBoxes() {
  Value isFirst = k_.equal(thread_, k_.number(0));
  if (!isDeep())
    return k_.when(isFirst, [&] { forEachTile([&](Tile &tile, const Part &part) { askForBoxes(tile, part); }); });
  forEachTile([&](Tile &tile, const Part &part) {
    k_.when(isFirst, [&] { askForBoxes(tile, part); });
    DividedSums::meet(k_);
  });
}

/// One thread asks for boxes of the other operand. What the warpgroup's next steps are computed from is carried from
/// round to round, each step's in registers of its own: to move what is on its way would wait for it. Behind the last
/// step it is that of the last again.
void WarpgroupProduct::computeTiles() {
  Value lane = k_.rem(thread_, k_.number(32)), turn = k_.sub(group_, k_.number(kConsumers));
  const uint32_t turns = producers_;
  forEachTile([&](Tile &tile, const Part &part) {
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
      Value step = k_.add(part.first, inTile);
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

bool WarpgroupProduct::mayShift(const ProductKernel &kernel) {
  return kernel.starts != RowStarts::Aligned && mayShiftLines(kernel.rows, kernel.columns) &&
         !ComputedTile::operandOf(kernel.product, kernel.shape) && ShiftedLines::mayBring(kernel);
}

/// `copy` brings the steps of a tile. What is left of them is handed over behind all tiles; where blocks share a sum,
/// behind each, where they meet.
void WarpgroupProduct::bringTiles(llvm::function_ref<void(Tile &, const Part &)> copy,
                                  llvm::function_ref<void(Value, Value)> handOverLast) {
  Value steps = forEachTile([&](Tile &tile, const Part &part) {
    copy(tile, part);
    if (!isDeep())
      return;
    handOverLast(k_.add(part.first, part.count), part.count);
    DividedSums::meet(k_);
  });
  if (!isDeep())
    handOverLast(steps, steps);
}

/// By each producer every other step, in the order of the ring. It asks for the vectors of one while those of its step
/// before arrive, and shifts these.
void WarpgroupProduct::shiftLines() {
  Value turns = k_.number(producers_), turn = k_.sub(group_, k_.number(kConsumers));
  auto handOver = [&](Value step, uint32_t pending) {
    core_.waitForGroups(pending);
    k_.barrier(); // what other threads have copied
    lines_->shift(inArena(stageBytes(step)), step);
    core_.publish();
    ring_->fill(step);
    k_.barrier(); // what lies beside these lines is written over
  };
  // The last step before `end` that is this producer's, of so many that the block has brought without a break.
  auto handOverLast = [&](Value end, Value count) {
    Value behind = k_.add(k_.rem(k_.sub(k_.add(end, turns), k_.add(turn, k_.number(1))), turns), k_.number(1));
    k_.when(k_.less(behind, k_.add(count, k_.number(1))), [&] { handOver(k_.sub(end, behind), 0); });
  };
  bringTiles(
      [&](Tile &tile, const Part &part) {
        const Operand &left = kernel_.product.left, &right = kernel_.product.right;
        const ShiftedLines::Pieces ofLeft = lines_->findPieces(tile.space, left),
                                   ofRight = lines_->findPieces(tile.space, right);
        Value first = k_.rem(k_.sub(k_.add(turn, turns), k_.rem(part.first, turns)), turns);
        k_.loop(first, part.count, turns, {}, [&](Value inPart, ValueRange) {
          Bodies::Scope scope(kernel_.bodies);
          Value step = k_.add(part.first, inPart), inTile = k_.add(part.begin, inPart), to = inArena(stageBytes(step));
          ring_->waitUntilEmpty(step);
          lines_->ask(tile.space, left, ofLeft, to, step, inTile);
          lines_->ask(tile.space, right, ofRight, to, step, inTile);
          core_.closeGroup();
          k_.when(k_.less(k_.number(producers_ - 1), isDeep() ? inPart : step),
                  [&] { handOver(k_.sub(step, turns), 1); });
          return Values();
        });
      },
      handOverLast);
}

/// A step is handed over when its copies are there, which is seen when those of later steps have been asked for.
void WarpgroupProduct::copyElements(Copies how) {
  auto handOver = [&](Value step, uint32_t pending) {
    core_.waitForGroups(pending);
    core_.publish();
    ring_->fill(step);
  };
  Value ahead = k_.number(kCopiedAhead);
  // The last steps before `end`, of so many that the block has brought without a break.
  auto handOverLast = [&](Value end, Value count) {
    for (uint32_t left = kCopiedAhead; left > 0; --left)
      k_.when(k_.less(k_.number(left - 1), count), [&] { handOver(k_.sub(end, k_.number(left)), left - 1); });
  };
  bringTiles(
      [&](Tile &tile, const Part &part) {
        forEachStep(part, [&](Value step, Value inTile) {
          Bodies::Scope scope(kernel_.bodies);
          Value to = inArena(stageBytes(step));
          ring_->waitUntilEmpty(step);
          tile.left.bring(to, inTile, how == Copies::Vectors);
          tile.right.bring(k_.at(to, k_.b.getI8Type(), k_.number(tile.left.bytes())), inTile, how == Copies::Vectors);
          core_.closeGroup();
          Value brought = isDeep() ? k_.sub(step, part.first) : step;
          k_.when(k_.less(k_.number(kCopiedAhead - 1), brought), [&] { handOver(k_.sub(step, ahead), kCopiedAhead); });
        });
      },
      handOverLast);
}

/// One thread asks for the right operand's boxes, all bring the left operand's rows. Copies of rows tell the barrier
/// themselves that they are done: the producer goes on to the next step.
void WarpgroupProduct::copyRows() {
  forEachTile([&](Tile &tile, const Part &part) {
    std::optional<OperandTile::Runs> runs;
    if (tile.left.hasRuns())
      runs = tile.left.findRuns();
    forEachStep(part, [&](Value step, Value inTile) {
      Bodies::Scope scope(kernel_.bodies);
      Value to = inArena(stageBytes(step));
      Value right = k_.at(to, k_.b.getI8Type(), k_.number(tile.left.bytes()));
      ring_->waitUntilEmpty(step);
      k_.when(k_.equal(thread_, k_.number(0)), [&] {
        ring_->expect(step, rightMap_->bytes());
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
  k_.leaveRegisters(producerRegisters());
  // What one producer does while another one has nothing to do.
  auto alone = [&](llvm::function_ref<void()> body) {
    if (producers_ == 1)
      return body();
    k_.branch(k_.equal(group_, k_.number(kConsumers)), body, [&] {
      if (isDeep())
        forEachTile([&](Tile &, const Part &) { DividedSums::meet(k_); });
    });
  };
  auto slow = [&] {
    if (!shifts_)
      return alone([&] { copyElements(Copies::Single); });
    Value behindStages = k_.number(int64_t(stagesBesideLines(kernel_.rows, stageColumns())) *
                                   stageBytesOf(kernel_.rows, stageColumns()));
    lines_.emplace(kernel_, core_, kGroupThreads, inArena(behindStages));
    shiftLines();
  };
  auto fast = [&] {
    if (computed_ && hasMaps())
      return computeTiles();
    alone([&] { hasMaps() ? askForBoxes() : isMixed() ? copyRows() : copyElements(Copies::Vectors); });
  };
  k_.asTeam(thread_, kGroupThreads, k_.add(group_, k_.number(kFirstBarrier)), [&] { k_.branch(isFast_, fast, slow); });
}

} // namespace tenon::compiler::codegen
