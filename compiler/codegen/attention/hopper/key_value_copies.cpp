// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/key_value_copies.h"

#include "compiler/codegen/contraction/operands/operand_tile.h"

using namespace mlir;

namespace tenon::compiler::codegen {

// Copies without a map: so many are on their way before the first is waited for.
static constexpr uint32_t kCopiedAhead = 2;

Value KeyValueCopies::isAligned(const AttentionTile &tile, const ProductKernel &kernel) {
  TileSpace space(kernel, tile.inBatch, tile.firstRow, k_.number(0));
  return OperandTile(kernel, space, block_.core, kernel.product.right).isAligned();
}

Value KeyValueCopies::isFast() {
  const AttentionTile any{k_.number(0), k_.number(0), k_.number(0)};
  return k_.both(isAligned(any, block_.scores), isAligned(any, block_.output));
}

Value KeyValueCopies::filling(Value isFast) {
  Value all = k_.number(kGroupThreads);
  return block_.hasMaps() ? k_.select(isFast, k_.number(1), all) : all;
}

Value KeyValueCopies::forEachCopy(llvm::function_ref<void(const AttentionTile &, Value, Value, bool)> copy) {
  Value keys = k_.number(block_.keys());
  return block_.forEachTile([](Value) {},
                            [&](Value, const AttentionTile &tile, const KeyRange &range, Value first) {
                              k_.when(k_.less(range.first(), range.last()), [&] {
                                copy(tile, range.first(), first, true);
                                Value second = k_.add(range.first(), keys),
                                      last =
                                          k_.loop(second, range.last(), keys, k_.add(first, k_.number(1)),
                                                  [&](Value key, ValueRange step) {
                                                    copy(tile, key, step[0], true);
                                                    copy(tile, k_.sub(key, keys), k_.add(step[0], k_.number(1)), false);
                                                    return SmallVector<Value>{k_.add(step[0], k_.number(2))};
                                                  })[0];
                                Value lastBlock = k_.mul(k_.sub(block_.blocksOf(range), k_.number(1)), keys);
                                copy(tile, k_.add(range.first(), lastBlock), last, false);
                              });
                            });
}

void KeyValueCopies::askForBoxes(const AttentionTile &tile, Value key, Value step, bool isKeys) {
  const ProductKernel &kernel = isKeys ? block_.scores : block_.output;
  const WarpgroupAttentionShape &shape = block_.shape;
  const WarpgroupAttentionShape::Boxes &boxes = isKeys ? shape.keyBoxes : shape.valueBoxes;
  const Operand &operand = kernel.product.right;
  TileSpace space(kernel, tile.inBatch, tile.firstRow, k_.number(0));
  const uint32_t wholeTiles = (isKeys ? shape.depth : shape.columns) / WarpgroupBlock::kTileDepth,
                 tiles = wholeTiles + (boxes.last ? 1 : 0), bytes = block_.keys() * TileMap::kRowBytes;
  block_.ring.waitUntilEmpty(step);
  block_.ring.expect(step,
                     wholeTiles * bytes + (boxes.last ? block_.keys() * uint32_t(boxes.last->box.back()) * 2 : 0));
  for (uint32_t number = 0; number < tiles; ++number) {
    const TileMap &map = number < wholeTiles ? *boxes.whole : *boxes.last;
    const SmallVector<Value> position = map.beginAt(k_, [&](unsigned axis) {
      const bool isReduced = axis == kernel.product.reduced.front(), isAcross = axis == operand.across.front();
      // Keys are across in the first product, reduced in the second.
      return (isKeys ? isAcross : isReduced)   ? key
             : (isKeys ? isReduced : isAcross) ? k_.number(int64_t(number) * WarpgroupBlock::kTileDepth)
                                               : space.inBatch(axis);
    });
    Value to = block_.inArena(k_.add(block_.slotOf(step), k_.number(int64_t(number) * bytes)));
    const auto maps = shape.maps();
    block_.ring.copyBox(to, block_.tensorMaps[llvm::find(maps, &map) - maps.begin()], position, step);
  }
}

void KeyValueCopies::copyElements(const AttentionTile &tile, Value key, Value step, bool isKeys, bool isFast) {
  Bodies::Scope scope(block_.kernel.bodies);
  block_.ring.waitUntilEmpty(step);
  const ProductKernel &kernel = isKeys ? block_.scores : block_.output;
  TileSpace space(kernel, tile.inBatch, tile.firstRow, isKeys ? key : k_.number(0));
  OperandTile operand(kernel, space, block_.core, kernel.product.right);
  Value slot = block_.slotOf(step);
  if (isKeys)
    for (uint32_t part = 0; part < block_.depthTiles(); ++part)
      operand.bring(block_.inArena(k_.add(slot, k_.number(int64_t(part) * block_.keys() * 128))), k_.number(part),
                    isFast);
  else
    operand.bring(block_.inArena(slot), k_.div(key, k_.number(block_.keys())), isFast);
  block_.core.closeGroup();
}

/// A copy is handed over when it is there, which is seen when later ones have been asked for.
void KeyValueCopies::byElements(bool isFast) {
  auto handOver = [&](Value step, uint32_t pending) {
    block_.core.waitForGroups(pending);
    block_.core.publish();
    block_.ring.fill(step);
  };
  Value steps = forEachCopy([&](const AttentionTile &tile, Value key, Value step, bool isKeys) {
    copyElements(tile, key, step, isKeys, isFast);
    k_.when(k_.less(k_.number(kCopiedAhead - 1), step),
            [&] { handOver(k_.sub(step, k_.number(kCopiedAhead)), kCopiedAhead); });
  });
  // The last ones: there are none, or two for each block of keys.
  k_.when(k_.less(k_.number(0), steps), [&] {
    for (uint32_t left = kCopiedAhead; left > 0; --left)
      handOver(k_.sub(steps, k_.number(left)), left - 1);
  });
}

void KeyValueCopies::run(Value isFast) {
  auto byMaps = [&] {
    k_.when(k_.equal(block_.thread, k_.number(0)), [&] {
      forEachCopy(
          [&](const AttentionTile &tile, Value key, Value step, bool isKeys) { askForBoxes(tile, key, step, isKeys); });
    });
  };
  k_.branch(isFast, [&] { block_.hasMaps() ? byMaps() : byElements(true); }, [&] { byElements(false); });
}

} // namespace tenon::compiler::codegen
