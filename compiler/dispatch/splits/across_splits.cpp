// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/across_splits.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/across_twice.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {

bool liesAcross(const Contraction &product, const ContractionSide &side) {
  linalg::GenericOp op = product.op;
  if (side.inputs.size() != 1)
    return false;
  const AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(side.inputs.front()));
  return map.getNumResults() != 0 &&
         llvm::none_of(product.reduced, [&](unsigned loop) { return map.getResults().back().isFunctionOfDim(loop); });
}

bool isReadIntoRegisters(const Contraction &product) {
  return product.reduced.size() == 1 && product.isSummedByAll(product.reduced.front()) &&
         mayRoundForTensorCores(product) && hasHopperTf32(product.op) &&
         liesAcross(product, product.left) != liesAcross(product, product.right);
}

std::optional<Split> registersSplitOf(linalg::GenericOp op, const Contraction &product) {
  struct Tile {
    double across, along, microseconds; // of a step of 128 bytes
  };
  constexpr Tile kTiles[] = {{128, 256, 0.66}, {128, 192, 0.51}, {128, 128, 0.36}, {128, 64, 0.3},
                             {64, 256, 0.42},  {64, 128, 0.26},  {64, 64, 0.26}};
  // Of an H200, in a microsecond: bytes of memory, and of parts that another kernel adds up.
  constexpr double kBytesOfMemory = 3.4e6, kBytesInMicrosecond = 3e6, kMicrosecondsOfSum = 3, kMicrosecondsOfTile = 1,
                   kLeastGain = 0.05;
  constexpr int64_t kStep = 32, kLeastOfPart = 512, kMostParts = 128;
  const bool isRightAcross = liesAcross(product, product.right);
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return double(*knownSizeOf(op, loops)); };
  const double batch = sizeOf(product.batch), across = sizeOf(isRightAcross ? product.columns : product.rows),
               along = sizeOf(isRightAcross ? product.rows : product.columns);
  const unsigned loop = product.reduced.front();
  const int64_t reduced = op.getStaticLoopRanges()[loop];
  const double ofMemory = batch * double(reduced) * (across + along) * sizeof(float) / kBytesOfMemory;
  auto timeOf = [&](int64_t parts) {
    const double steps = double(reduced) / double(parts * kStep);
    double least = HUGE_VAL;
    for (const Tile &tile : kTiles) {
      const double tiles = batch * double(parts) * std::ceil(across / tile.across) * std::ceil(along / tile.along);
      least = std::min(least, std::ceil(tiles / double(abi::kHopperMultiprocessors)) *
                                  (steps * tile.microseconds + kMicrosecondsOfTile));
    }
    const double adding =
        kMicrosecondsOfSum + double(parts) * batch * across * along * 2 * sizeof(float) / kBytesInMicrosecond;
    return std::max(least, ofMemory) + (parts == 1 ? 0 : adding);
  };
  std::optional<Split> best;
  double least = timeOf(1);
  for (int64_t parts = 2; parts <= std::min(kMostParts, reduced / kLeastOfPart); ++parts)
    if (reduced % (parts * kStep) == 0 && timeOf(parts) < (1 - kLeastGain) * least)
      best = Split{loop, parts, reduced, /*isAcross=*/true}, least = timeOf(parts);
  return best;
}

std::optional<Split> acrossSplitOf(linalg::GenericOp op, const Contraction &product) {
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return *knownSizeOf(op, loops); };
  const ProductSizes sizes{sizeOf(product.batch), sizeOf(product.rows), sizeOf(product.columns),
                           sizeOf(product.reduced)};
  const AcrossParts best = partsByWarps(sizes);
  return best.parts == 1 ? std::nullopt
                         : std::optional(Split{product.reduced.front(), best.parts, sizes.reduced, /*isAcross=*/true});
}

} // namespace tenon::compiler::dispatch
