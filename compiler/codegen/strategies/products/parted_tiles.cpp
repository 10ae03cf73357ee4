// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/parted_tiles.h"

#include "abi/arch_table.h"
#include "compiler/codegen/attention/few_queries/few_queries_shape.h"
#include "compiler/codegen/attention/hiding.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

using Shape = WarpgroupAttentionShape;

// Of fewer rows it is memory that takes the time, and warps read it (few_queries/).
constexpr int64_t kLeastRows = 17;
constexpr uint32_t kMostParts = 64;
// Keys of a block that times are of, whatever a kernel has.
constexpr int64_t kBlockKeys = 128;
// Parts are to gain more than what the estimate may be wrong by.
constexpr double kWorthParts = 0.93;
// Of an unknown number of keys parts are chosen as of so many.
constexpr int64_t kManyKeys = 32768, kFewKeys = 256;
// Fewer tiles of 128 rows have no warpgroups, if they are whole.
constexpr int64_t kFewestTiles = 64;
// Of rows that warps read the keys of, so many tiles of 64 rows at most are computed faster in parts: these are two or
// more of each tile. On an H200 11 shapes of 17 to 128 rows took 0.5 to 0.98 of the time.
constexpr int64_t kMostOfFewRows = abi::kHopperMultiprocessors / 2;

// Measured on an H200, in microseconds: what a block of keys takes, of two consumers, of one, and of warps with 64
// rows, and of its depth each element.
struct BlockTime {
  double ofBlock, ofElement;
};
constexpr BlockTime kOfTwo{0.55, 0.0058}, kOfOne{0.45, 0.0045}, kOfWarps{1.6, 0.007};
// Of two blocks of one consumer on a multiprocessor, in the time of one.
constexpr double kOfTwoBlocks = 1.7;
// What a launch takes beside, of whole tiles; in parts, the kernel behind included: each block and element of the
// depth, and each MB that parts leave. Two consumers leave that kernel no registers until they are done.
constexpr double kBesideWarps = 3, kBesideWhole = 5, kBesideParts = 4.7, kOfPart = 0.013, kOfDepth = 0.012,
                 kOfMB = 0.25, kBesideTwo = 1, kOfMBBehindTwo = 0.8, kBesideRounds = 1;
// Keys and values that memory brings in a microsecond.
constexpr double kBytesOfMemory = 4e6;

struct Tiles {
  int64_t batch, rows, depth;

  int64_t count(int64_t tileRows) const { return batch * int64_t(llvm::divideCeil(rows, tileRows)); }
  double time(const BlockTime &time, int64_t blocks) const {
    return double(blocks) * (time.ofBlock + time.ofElement * double(depth));
  }
  /// Of tiles that are not shared.
  double whole(int64_t keys) const {
    const int64_t large = count(2 * Shape::kGroupRows), small = count(Shape::kGroupRows),
                  blocks = int64_t(llvm::divideCeil(keys, kBlockKeys));
    auto rounds = [](int64_t tiles) { return double(llvm::divideCeil(tiles, abi::kHopperMultiprocessors)); };
    if (large < kFewestTiles)
      return rounds(small) * time(kOfWarps, blocks) + kBesideWarps;
    return rounds(large) * time(kOfTwo, blocks) + kBesideWhole;
  }
  double inParts(const Shape &shape, int64_t keys) const {
    const int64_t all = count(shape.rows()) * shape.parts, atOnce = abi::kHopperMultiprocessors,
                  own = int64_t(llvm::divideCeil(llvm::divideCeil(keys, kBlockKeys), shape.parts));
    const double two = shape.fitting() == 2 && all > atOnce ? kOfTwoBlocks : 1,
                 rounds = two * double(llvm::divideCeil(all, atOnce * shape.fitting())),
                 computing = rounds * time(shape.isAlone() ? kOfOne : kOfTwo, own),
                 reading = double(batch * keys * depth * 2) * sizeof(uint16_t) / kBytesOfMemory,
                 left = double(batch * rows * shape.parts * depth) * sizeof(float) * 1e-6;
    double beside = kBesideParts + kOfPart * double(std::min(all, atOnce)) + kOfDepth * double(depth) + kOfMB * left;
    if (!shape.isAlone())
      beside += kBesideTwo + (2 * all > atOnce ? kOfMBBehindTwo * left : 0);
    else if (all > atOnce)
      beside += kBesideRounds;
    return std::max(computing, reading) + beside;
  }
};

/// Whether it is known that the last rows of each element see about all keys.
bool seeAll(const GroupShape &shape, const Attention &attention) {
  const std::optional<Hiding> hiding = hidingOf(shape, attention, Shape::kGroupRows);
  return !hiding || (hiding->ranges.empty() && hiding->rowBounds.empty() &&
                     llvm::all_of(hiding->bounds, [](const KeyBound &bound) { return bound.isUpper; }));
}

} // namespace

std::optional<PartedTiles> PartedTiles::of(const GroupShape &shape, const Attention &attention) {
  auto function = attention.scores.op->op->getParentOfType<func::FuncOp>();
  const std::optional<int64_t> batch = shape.sizeOf(attention.output.batch), rows = shape.sizeOf(attention.output.rows),
                               keys = shape.sizeOf(attention.output.reduced);
  if (attention.isChain || !function->hasAttr(dispatch::kHopperOnlyAttr) || !batch || !rows || *batch <= 0 ||
      *rows < kLeastRows || !seeAll(shape, attention))
    return std::nullopt;
  const std::optional<Shape> found = Shape::of(shape, attention);
  if (!found)
    return std::nullopt;
  const Tiles tiles{*batch, *rows, (found->depth + found->columns) / 2};
  // Of more whole tiles, blocks take the long and the short ones in turn, and all are busy.
  if (tiles.count(2 * Shape::kGroupRows) > abi::kHopperMultiprocessors)
    return std::nullopt;
  const bool areFew = FewQueriesShape::of(shape, attention).has_value();
  if (areFew && (!keys || found->maps().empty() || tiles.count(Shape::kGroupRows) > kMostOfFewRows))
    return std::nullopt;
  auto worth = [&](int64_t keys) { return areFew ? INFINITY : kWorthParts * tiles.whole(keys); };
  const int64_t many = keys.value_or(kManyKeys);
  std::optional<PartedTiles> best;
  double least = worth(many);
  for (uint32_t consumers : {2, 1})
    for (uint32_t parts = 2; parts <= kMostParts && int64_t(parts - 1) * kBlockKeys < many; ++parts) {
      Shape tried = *found;
      tried.consumers = consumers;
      tried.parts = parts;
      const double time = tiles.inParts(tried, many);
      if (time < least && !(tried.isDeep() && tried.isAlone())) {
        best = PartedTiles{tried, 0};
        least = time;
      }
    }
  if (best && !keys) {
    best->above = kFewKeys;
    while (best->above < many && tiles.inParts(best->shape, best->above) > worth(best->above))
      best->above *= 2;
  }
  return best;
}

} // namespace tenon::compiler::codegen
