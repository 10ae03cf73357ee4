// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/warp_splits.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/warp_tiles.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {

// A second kernel, and how fast it adds parts that the second-level cache still has.
static constexpr double kMicrosecondsOfSum = 3, kBytesInMicrosecond = 3e6;
static constexpr double kBytesOfMemory = 4e6; // in a microsecond: operands

/// Others come to tiles element by element, which the model does not know.
static bool areCopied(linalg::GenericOp op, const Contraction &product) {
  return llvm::all_of(ArrayRef{&product.left, &product.right}, [&](const ContractionSide *side) {
    if (side->border || side->inputs.size() != 1)
      return false;
    const Value value = beforeExtension(side->value);
    const AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(side->inputs.front()));
    const auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
    return isa<BlockArgument>(value) &&
           (elementBytes(value.getType()) == 2 || (last && last.getPosition() == product.reduced.front()));
  });
}

bool isSplitByWarpModel(linalg::GenericOp op, const Contraction &product) {
  constexpr int64_t kFirstWithF8 = 89;
  const std::optional<WarpDevice> device = WarpDevice::of(op);
  const bool lacksF8 = isF8(factorTypeOf(product.left.value)) && device && device->number < kFirstWithF8;
  return device && !lacksF8 && mayRoundForTensorCores(product) && product.rows.size() == 1 &&
         product.columns.size() == 1 && product.reduced.size() == 1 && areCopied(op, product);
}

std::optional<Split> warpSplitOf(linalg::GenericOp op, const Contraction &product) {
  constexpr double kLeastGain = 0.05;
  constexpr int64_t kMostParts = 16, kLeastOfPart = 512, kMultiple = 8, kAlignment = 16;
  const unsigned loop = product.reduced.front();
  if (!product.isSummedByAll(loop))
    return std::nullopt;
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return double(*knownSizeOf(op, loops)); };
  const WarpDevice device = *WarpDevice::of(op);
  const int64_t reduced = *knownSizeOf(op, product.reduced);
  const int64_t bytes = elementBytes(beforeExtension(product.left.value).getType());
  const double batch = sizeOf(product.batch), rows = sizeOf(product.rows), columns = sizeOf(product.columns);
  auto timeOf = [&](int64_t parts) {
    double least = HUGE_VAL;
    for (const WarpTile &tile : warpTiles()) {
      const double tiles =
          batch * std::ceil(rows / double(tile.rows)) * std::ceil(columns / double(tile.columns)) * double(parts);
      least = std::min(least, microsecondsOf(tile, device, tiles, double(reduced / parts * bytes)));
    }
    least = std::max(least, batch * (rows + columns) * double(reduced * bytes) / kBytesOfMemory);
    const double added = double(parts) * batch * rows * columns * 2 * sizeof(float);
    return parts == 1 ? least : least + kMicrosecondsOfSum + added / kBytesInMicrosecond;
  };
  std::optional<Split> best;
  double least = timeOf(1);
  for (int64_t parts = 2; parts <= std::min(kMostParts, reduced / kLeastOfPart); ++parts)
    if (const int64_t each = reduced / parts; reduced % parts == 0 && each % kMultiple == 0 &&
                                              each * bytes % kAlignment == 0 &&
                                              timeOf(parts) < (1 - kLeastGain) * least)
      best = Split{loop, parts, reduced, /*isAcross=*/true}, least = timeOf(parts);
  return best;
}

} // namespace tenon::compiler::dispatch
