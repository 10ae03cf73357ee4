// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/warpgroup_shape.h"

#include "abi/arch_table.h"
#include "compiler/codegen/attention/hiding.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Multiprocessors of a Hopper GPU, each of which computes a tile at a time.
constexpr int64_t kBlocks = abi::kHopperMultiprocessors;
// What three consumers compute in the time of two, in percent.
constexpr int64_t kRateOfThree = 125;
// Of fewer tiles of two consumers `mma.sync` computes smaller ones.
constexpr int64_t kFewestTiles = 64;
// Depths are multiples of as many elements as copies and columns of a product are of; a product reads more at a time.
constexpr uint32_t kMostDepth = 256, kDepths = 8, kStep = 16;

/// Time of all tiles, where no rows are many; of masks that hide some, tiles fill the rounds evenly.
int64_t timeOf(int64_t batch, int64_t length, int64_t rows, bool isMasked) {
  const int64_t tiles = batch * int64_t(llvm::divideCeil(length, rows));
  const int64_t hundredths =
      isMasked ? std::max<int64_t>(100, tiles * 100 / kBlocks) : int64_t(llvm::divideCeil(tiles, kBlocks)) * 100;
  return hundredths * rows;
}

/// Whether of both tiles as much is known.
bool followTheSame(const Hiding &one, const Hiding &other) {
  return one.bounds.size() == other.bounds.size() && one.ranges.size() == other.ranges.size() &&
         one.rowBounds.size() == other.rowBounds.size();
}

/// Whether a tile of three consumers fits the attention, and is worth it.
bool takesThree(const GroupShape &shape, const Attention &attention) {
  constexpr uint32_t kTwo = 2 * WarpgroupAttentionShape::kGroupRows, kThree = 3 * WarpgroupAttentionShape::kGroupRows;
  const std::optional<Hiding> ofTwo = hidingOf(shape, attention, kTwo), ofThree = hidingOf(shape, attention, kThree);
  // Of heads that share their keys a tile may have rows of two, and which keys those see nobody knows.
  if (!isPlain(shape, attention, kThree) || (ofTwo && (!ofThree || !followTheSame(*ofThree, *ofTwo))))
    return false;
  // What ranges are compared with lies in memory, and takes registers.
  if (ofThree && !ofThree->ranges.empty())
    return false;
  const std::optional<int64_t> batch = shape.sizeOf(attention.output.batch),
                               length = shape.sizeOf(attention.output.rows);
  if (!batch || !length)
    return true;
  const bool isMasked = ofThree && !ofThree->bounds.empty();
  return timeOf(*batch, *length, kThree, isMasked) * 100 < timeOf(*batch, *length, kTwo, isMasked) * kRateOfThree;
}

/// Whether the last rows see most keys, and tiles of two consumers leave multiprocessors without one, where tiles of
/// one would all run at once.
bool waitsForTheLast(const GroupShape &shape, const Attention &attention, uint32_t fitting) {
  constexpr uint32_t kOne = WarpgroupAttentionShape::kGroupRows, kTwo = 2 * kOne;
  const std::optional<Hiding> hiding = hidingOf(shape, attention, kOne);
  const std::optional<int64_t> batch = shape.sizeOf(attention.output.batch),
                               length = shape.sizeOf(attention.output.rows);
  const bool isCausal = hiding && hiding->ranges.empty() &&
                        llvm::all_of(hiding->bounds, [](const KeyBound &bound) { return bound.isUpper; }) &&
                        llvm::any_of(hiding->bounds, [](const KeyBound &bound) { return bound.followsRows; });
  if (!isCausal || !batch || !length)
    return false;
  const int64_t ofTwo = *batch * int64_t(llvm::divideCeil(*length, kTwo)),
                ofOne = *batch * int64_t(llvm::divideCeil(*length, kOne));
  return ofTwo >= kFewestTiles && ofTwo < kBlocks && ofOne <= kBlocks * fitting;
}

/// Boxes of `size` elements; the last one is a multiple of `step` wide. `mapOf`: the map of boxes so wide.
WarpgroupAttentionShape::Boxes boxesOf(uint32_t size, uint32_t step,
                                       llvm::function_ref<std::optional<TileMap>(uint32_t)> mapOf) {
  constexpr uint32_t kWide = WarpgroupAttentionShape::kTileDepth;
  WarpgroupAttentionShape::Boxes boxes;
  if (size >= kWide)
    boxes.whole = mapOf(kWide);
  if (size % kWide != 0)
    boxes.last = mapOf(uint32_t(llvm::alignTo(size % kWide, step)));
  return boxes;
}

} // namespace

SmallVector<const TileMap *, 4> WarpgroupAttentionShape::maps() const {
  SmallVector<const TileMap *, 4> all;
  for (const Boxes *boxes : {&keyBoxes, &valueBoxes})
    for (const std::optional<TileMap> *map : {&boxes->whole, &boxes->last})
      if (*map)
        all.push_back(&**map);
  return all;
}

std::optional<WarpgroupAttentionShape> WarpgroupAttentionShape::of(const GroupShape &shape,
                                                                   const Attention &attention) {
  const int64_t depth = shape.sizeOf(attention.scores.reduced).value_or(0),
                columns = shape.sizeOf(attention.output.columns).value_or(0);
  auto isTaken = [](int64_t size) { return size > 0 && size <= kMostDepth && size % kDepths == 0; };
  if (!attention.tensorCoreElement() || !isTaken(depth) || !isTaken(columns) || !attention.scores.left.isAlongReduced ||
      !attention.scores.right.isAlongReduced || attention.output.right.isAlongReduced)
    return std::nullopt;
  WarpgroupAttentionShape found{
      .depth = uint32_t(depth), .columns = uint32_t(columns), .keyBoxes = {}, .valueBoxes = {}};
  if (depth <= kTileDepth && columns <= kTileDepth && takesThree(shape, attention))
    found.consumers = 3;
  // A map of several summed axes numbers its tiles by patches of an image, which attention's loops do not count.
  if (attention.scores.reduced.size() != 1 || attention.output.reduced.size() != 1)
    return found;
  const Boxes keyBoxes = boxesOf(found.depth, kStep,
                                 [&](uint32_t wide) {
                                   return mapOf(shape, attention.scores, attention.scores.right, found.keys(), wide);
                                 }),
              valueBoxes = boxesOf(found.columns, kDepths, [&](uint32_t wide) {
                return mapOf(shape, attention.output, attention.output.right, wide, found.keys());
              });
  auto haveAll = [](const Boxes &boxes, uint32_t size) {
    return boxes.whole.has_value() == (size >= kTileDepth) && boxes.last.has_value() == (size % kTileDepth != 0);
  };
  if (haveAll(keyBoxes, found.depth) && haveAll(valueBoxes, found.columns)) {
    found.keyBoxes = keyBoxes;
    found.valueBoxes = valueBoxes;
  }
  return found;
}

std::optional<WarpgroupAttentionShape> WarpgroupAttentionShape::aloneOf(const GroupShape &shape,
                                                                        const Attention &attention) {
  std::optional<WarpgroupAttentionShape> found = of(shape, attention);
  if (!found || found->isDeep())
    return std::nullopt;
  found->consumers = 1;
  return waitsForTheLast(shape, attention, found->fitting()) ? found : std::nullopt;
}

} // namespace tenon::compiler::codegen
