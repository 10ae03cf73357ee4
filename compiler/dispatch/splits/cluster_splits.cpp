// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/cluster_splits.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// How long a step of 128 bytes takes, and until the first one of a tile.
struct Tile {
  int64_t rows, columns;
  double microseconds;
};
constexpr Tile kTiles[] = {{128, 256, 0.705}, {128, 192, 0.54}, {128, 128, 0.425}, {128, 64, 0.25},
                           {64, 256, 0.42},   {64, 128, 0.22},  {64, 64, 0.15}};
constexpr double kStepBytes = 128, kMicrosecondsOfTile = 1;
// Blocks alone take a step sooner, and those of 64 x 64 too many bytes.
constexpr double kAlone = 0.865;
constexpr int64_t kLeastAlone = 64 * 128;
// Bytes that all multiprocessors get of the second-level cache in a microsecond, blocks of clusters and blocks alone;
// of operands that it does not hold; fewer than so many blocks get no more.
constexpr double kBytesOfClusters = 8e6, kBytesAlone = 11.8e6, kBytesOfMemory = 3.6e6, kCache = 50e6;
constexpr int64_t kBlocksOfAll = 92, kEnoughBlocks = 128, kMultiprocessors = abi::kHopperMultiprocessors, kMostDeep = 8;
// Another kernel, and how fast it adds parts that the second-level cache still has (measured on an H200).
constexpr double kMicrosecondsOfSum = 2.4, kBytesOfSum = 3.9e6;
constexpr int64_t kSide = 128, kLeastLong = 16384; // of a tile; of the sums that were measured
// Where both operands lie across in whole lines, as of the gradients of filters: shorter sums of more tiles were
// measured, too, in parts that need not be whole steps, and what blocks alone get of the cache in small tiles (bf16,
// 512 x 1024 x 6272 in two parts 15.2 us, in clusters 17.2; 256 x 1024 in four 10.6, 14.3; 256 x 256 x 12544 in
// fourteen 7.9, 11.7; 512 x 512 x 2352 in three 8.7, 8.2; 256 x 512 x 25088 in seven 16.4, in fourteen 18.2). Of rows
// that begin in a line parts may be slower (216 x 304 x 12736 14.7, 13.5).
constexpr int64_t kLeastAcross = 4096, kMostTilesAcross = 32, kSidesOfSmall = 192, kRowsOfPart = 8;
constexpr double kBytesOfSmall = 14.5e6;
constexpr int64_t kLeastOfPart = 512, kMostParts = 128;
constexpr double kLeastGain = 0.08, kLeastSteps = 4; // of what the model may be wrong by; of a block

struct Sizes {
  int64_t batch, rows, columns, reduced, bytes;
  bool areAcross; // both operands, in whole lines
  double operands() const { return double(batch * reduced * bytes) * double(rows + columns); }
};

double timeOf(const Sizes &sizes, int64_t parts, const Tile &tile, int64_t deep) {
  const int64_t tiles = parts * sizes.batch * int64_t(llvm::divideCeil(sizes.rows, tile.rows)) *
                        int64_t(llvm::divideCeil(sizes.columns, tile.columns));
  const double steps = std::ceil(double(sizes.reduced * sizes.bytes) / double(parts * deep) / kStepBytes);
  if (deep > 1 && (tiles > clustersAtOnce(deep) || steps < kLeastSteps))
    return HUGE_VAL;
  const int64_t blocks = std::min(tiles * deep, kMultiprocessors);
  const double alone = sizes.areAcross && tile.rows + tile.columns <= kSidesOfSmall ? kBytesOfSmall : kBytesAlone;
  const double ofAll = double(tile.rows + tile.columns) * kStepBytes * double(std::max(blocks, kBlocksOfAll)) /
                       (parts > 1 ? alone : kBytesOfClusters);
  const double rounds = std::ceil(double(tiles * deep) / double(kMultiprocessors)),
               ofStep = std::max(tile.microseconds * (parts > 1 ? kAlone : 1), ofAll),
               fewer = std::max(1.0, double(kEnoughBlocks) / double(blocks)),
               fromMemory = sizes.operands() > kCache ? sizes.operands() / kBytesOfMemory * fewer : 0;
  double taken = std::max(rounds * steps * ofStep, fromMemory) + rounds * kMicrosecondsOfTile;
  if (deep > 1)
    taken += kMicrosecondsOfMeeting + double(tile.rows * tile.columns) * sizeof(float) * double(deep - 1) /
                                          double(deep) * kMicrosecondsOfClusterByte;
  if (parts > 1)
    taken +=
        kMicrosecondsOfSum + double(parts * sizes.batch * sizes.rows * sizes.columns) * 2 * sizeof(float) / kBytesOfSum;
  return taken;
}

/// Of the whole, clusters take tiles apart; blocks of parts are alone.
double bestTime(const Sizes &sizes, int64_t parts) {
  double least = HUGE_VAL;
  for (const Tile &tile : kTiles) {
    constexpr int64_t kNarrow = 64;
    if ((sizes.columns <= tile.columns / 2 && tile.columns > kNarrow) ||
        (sizes.rows <= tile.rows / 2 && tile.rows > kNarrow)) // a narrower one has all of them
      continue;
    if (parts > 1 && tile.rows * tile.columns < kLeastAlone && sizes.rows > tile.rows)
      continue;
    for (int64_t deep = 1; deep <= (parts > 1 ? 1 : kMostDeep); ++deep)
      least = std::min(least, timeOf(sizes, parts, tile, deep));
  }
  return least;
}

/// Whether the side's last dimension is not the summed one.
bool liesAcross(linalg::GenericOp op, const ContractionSide &side, unsigned loop) {
  if (side.inputs.size() != 1)
    return false;
  const AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(side.inputs.front()));
  return map.getNumResults() != 0 && !map.getResults().back().isFunctionOfDim(loop);
}

} // namespace

int64_t clustersAtOnce(int64_t blocks) {
  constexpr int64_t kAtOnce[kMostDeep + 1] = {kMultiprocessors, kMultiprocessors, 66, 39, 30, 22, 17, 15, 15};
  return kAtOnce[blocks];
}

std::optional<Split> clusterSplitOf(linalg::GenericOp op, const Contraction &product) {
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto sizeOf = [&](ArrayRef<unsigned> loops) {
    int64_t size = 1;
    for (unsigned loop : loops)
      size *= ranges[loop];
    return size;
  };
  const unsigned loop = product.reduced.front();
  Sizes sizes{sizeOf(product.batch),
              sizeOf(product.rows),
              sizeOf(product.columns),
              ranges[loop],
              int64_t(elementBytes(beforeExtension(product.left.value).getType())),
              false};
  const int64_t inLine = int64_t(kStepBytes) / sizes.bytes;
  sizes.areAcross = liesAcross(op, product.left, loop) && liesAcross(op, product.right, loop) &&
                    sizes.rows % inLine == 0 && sizes.columns % inLine == 0;
  // Where clusters of eight blocks have no tile left, or sums are shorter, they are as fast.
  const int64_t tiles =
      sizes.batch * int64_t(llvm::divideCeil(sizes.rows, kSide)) * int64_t(llvm::divideCeil(sizes.columns, kSide));
  const int64_t most = sizes.areAcross ? kMostTilesAcross : kMultiprocessors / kMostDeep,
                shortest = sizes.areAcross ? kLeastAcross : kLeastLong,
                multiple = sizes.areAcross ? kRowsOfPart : inLine;
  if (!product.isSummedByAll(loop) || tiles > most || sizes.reduced < shortest)
    return std::nullopt;
  std::optional<Split> best;
  double least = (1 - kLeastGain) * bestTime(sizes, 1);
  for (int64_t parts = 2; parts <= std::min(kMostParts, sizes.reduced / kLeastOfPart); ++parts)
    if (sizes.reduced % (parts * multiple) == 0)
      if (const double taken = bestTime(sizes, parts); taken < least)
        best = Split{loop, parts, sizes.reduced, /*isAcross=*/true}, least = taken;
  return best;
}

} // namespace tenon::compiler::dispatch
