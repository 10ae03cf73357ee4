// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/warpgroup_block.h"

#include "compiler/codegen/attention/hiding.h"
#include "compiler/codegen/attention/hopper/tile_times.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kRowBytes = TileMap::kRowBytes;
// Columns that threads copy are a multiple of these, so that all threads have as many vectors of a block.
constexpr uint32_t kCopied = 16;

uint32_t slotBytes(const WarpgroupAttentionShape &shape) {
  return shape.keys() * WarpgroupAttentionShape::tilesOf(std::max(shape.depth, shape.columns)) * kRowBytes;
}
uint32_t slotsOf(const WarpgroupAttentionShape &shape) {
  return shape.ringBytes() / slotBytes(shape);
}
/// Of a consumer: that it multiplies, and the next one where there is place.
uint32_t queryTiles(const WarpgroupAttentionShape &shape) {
  return shape.isDeep() ? 1 : 2;
}
uint32_t queryBytes(const WarpgroupAttentionShape &shape) { // of a tile of a consumer
  return kGroupRows * WarpgroupAttentionShape::tilesOf(shape.depth) * kRowBytes;
}
uint32_t behindQueries(const WarpgroupAttentionShape &shape) {
  return shape.ringBytes() + shape.consumers * queryTiles(shape) * queryBytes(shape);
}
uint32_t behindParts(const WarpgroupAttentionShape &shape) {
  return behindQueries(shape) + shape.consumers * groupResultBytes(shape.columns);
}

/// Rows of all consumers are a tile: there is no half of one.
ProductKernel ofConsumers(ProductKernel product, uint32_t consumers) {
  product.cluster = consumers;
  return product;
}

/// Whether rows see different numbers of keys, and how many shows.
bool isCausal(const AttentionKernel &kernel) {
  const std::optional<Hiding> hiding = hidingOf(kernel.shape, kernel.attention, kernel.rows);
  if (!hiding)
    return false;
  const bool hasLower = llvm::any_of(hiding->bounds, [](const KeyBound &bound) { return !bound.isUpper; });
  return !hasLower && !hiding->bounds.empty() && hiding->ranges.empty();
}

} // namespace

WarpgroupBlock::WarpgroupBlock(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape,
                               ValueRange tensorMaps, const KeyParts *parts)
    : kernel(kernel), shape(shape), tensorMaps(tensorMaps), parts(parts), k(kernel.k),
      core(k, kernel.attention.tensorCoreElement()),
      scores(
          ofConsumers(kernel.product(kernel.attention.scores, kGroupRows, shape.keys(), kTileDepth), shape.consumers)),
      output(ofConsumers(kernel.product(kernel.attention.output, kGroupRows,
                                        uint32_t(llvm::alignTo(shape.columns, kCopied)), shape.keys()),
                         shape.consumers)),
      arena(k.dynamicShared()),
      // The same for all threads of a warp, and the compiler shall know it.
      group(k.shuffleFrom(k.div(k.thread(), k.number(kGroupThreads)), k.number(0))),
      thread(k.rem(k.thread(), k.number(kGroupThreads))), isFirst(k.equal(thread, k.number(0))),
      order(kernel, isCausal(kernel), parts ? SmallVector<uint32_t>() : tileTimes(kernel, shape, scores),
            parts ? parts->count : 1),
      ring(k, inArena(k.number(behindParts(shape))), slotsOf(shape)) {}

KeyRange WarpgroupBlock::rangeOf(const AttentionTile &tile) const {
  KeyRange range(kernel, scores, tile, shape.rows(), keys());
  if (parts)
    range.takePart(tile.part, parts->count);
  return range;
}

bool WarpgroupBlock::mayPass() const {
  const std::optional<Hiding> hiding = hidingOf(kernel.shape, kernel.attention, kernel.rows);
  const bool differ = hiding && shape.rows() > shape.keys() && hiding->followRows();
  const std::optional<int64_t> rows = kernel.shape.sizeOf(kernel.attention.output.rows);
  const bool mayLack = !rows || llvm::alignTo(uint64_t(*rows), kGroupRows) % shape.rows() != 0;
  return differ || mayLack;
}

uint32_t WarpgroupBlock::bytes(const WarpgroupAttentionShape &shape) {
  return behindParts(shape) + StageRing::bytes(slotsOf(shape));
}

Value WarpgroupBlock::slotOf(Value step) {
  return k.mul(ring.stageOf(step), k.number(slotBytes(shape)));
}

Value WarpgroupBlock::queriesOf(Value round) {
  Value tile = k.add(k.mul(group, k.number(queryTiles(shape))), k.rem(round, k.number(queryTiles(shape))));
  return k.add(k.mul(tile, k.number(queryBytes(shape))), k.number(shape.ringBytes()));
}

Value WarpgroupBlock::resultPart() {
  return inArena(k.add(k.number(behindQueries(shape)), k.mul(group, k.number(groupResultBytes(shape.columns)))));
}

Value WarpgroupBlock::forEachTile(
    llvm::function_ref<void(Value)> before,
    llvm::function_ref<void(Value, const AttentionTile &, const KeyRange &, Value)> body) {
  return k.loop(k.number(0), order.rounds(), k.number(1), k.number(0), [&](Value round, ValueRange carried) {
    Bodies::Scope scope(kernel.bodies);
    // What a thread computes of its number would be computed in front of the loop, and take registers from all tiles.
    Value outside = thread;
    thread = k.opaque(thread);
    isFirst = k.equal(thread, k.number(0));
    SmallVector<Value> steps;
    asTeam([&] {
      before(round);
      const TileOrder::Turn turn = order.turn(round);
      steps = k.choose(
          turn.exists, k.b.getI64Type(),
          [&] {
            Bodies::Scope inside(kernel.bodies);
            const KeyRange range = rangeOf(turn.tile);
            body(round, turn.tile, range, carried[0]);
            Value blocks = k.select(k.less(range.first(), range.last()), blocksOf(range), k.number(0));
            return SmallVector<Value>{k.add(carried[0], k.mul(blocks, k.number(2)))};
          },
          [&] { return SmallVector<Value>{carried[0]}; });
    });
    thread = outside;
    return steps;
  })[0];
}

} // namespace tenon::compiler::codegen
