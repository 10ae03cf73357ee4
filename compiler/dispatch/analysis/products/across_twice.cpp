// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/across_twice.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include <algorithm>

using namespace mlir;

namespace tenon::compiler::dispatch {

// Of an H200, in a microsecond: operations of warps and of warpgroups, bytes of operands, and of what another kernel
// reads and writes: a copy, or parts that it adds up; its launch, and that of the sum. (By the filters, us turned, by
// warps, and by warps as predicted: 32 images of 56 x 56 places, 256 channels to 64 57.6, 40.8, 44; to 128 74.6, 60.1,
// 71; 64 to 64 31.9, 20.5, 21; 8 images, 256 to 64 19.5, 15.9, 17; 32 of 28 x 28, 96 to 96 17.2, 19.6, 17; 512 to
// 256 49.4, 58.5.)
static constexpr double kByWarps = 118e6, kByWarpgroups = 300e6, kBytes = 3.4e6, kBytesOfCopy = 3e6,
                        kMicrosecondsOfLaunch = 1.5, kMicrosecondsOfSum = 3;

static int64_t ceilDiv(int64_t size, int64_t side) {
  return int64_t(llvm::divideCeil(uint64_t(size), uint64_t(side)));
}

static double microsecondsOfOperands(const ProductSizes &sizes) {
  return double(sizes.batch * sizes.reduced) * double(sizes.rows + sizes.columns) * sizeof(float) / kBytes;
}

AcrossParts partsByWarps(const ProductSizes &sizes) {
  // Tiles as contractionPlans (codegen/strategies/products/plans) chooses them where there are many, and how many of
  // them a multiprocessor has at once, by the registers of their threads.
  constexpr int64_t kTile = 128, kSmallTile = 64, kOfSmall = 3, kOfLarge = 2;
  constexpr int64_t kStep = 8, kLeastOfPart = 128; // of the sum
  const bool isHigh = sizes.rows > kSmallTile, isWide = isHigh && sizes.columns > kSmallTile;
  const int64_t high = isHigh ? kTile : kSmallTile, wide = isWide ? kTile : kSmallTile;
  const int64_t tiles = sizes.batch * ceilDiv(sizes.rows, high) * ceilDiv(sizes.columns, wide);
  constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors;
  const int64_t atOnce = kMultiprocessors * (isHigh ? kOfLarge : kOfSmall);
  const double results = double(sizes.batch * sizes.rows) * double(sizes.columns);
  auto timeOf = [&](int64_t parts) {
    const double inRounds = double(ceilDiv(tiles * parts, atOnce) * atOnce) * double(high * wide);
    const double products = 2 * inRounds * double(sizes.reduced) / double(parts) / kByWarps;
    // Multiprocessors with one tile less are idle when they have read it.
    const double idle = double(ceilDiv(tiles * parts, kMultiprocessors) * kMultiprocessors) / double(tiles * parts);
    const double adding = kMicrosecondsOfSum + double(parts) * results * 2 * sizeof(float) / kBytesOfCopy;
    return std::max(products, idle * microsecondsOfOperands(sizes)) + (parts == 1 ? 0 : adding);
  };
  AcrossParts best{1, timeOf(1)};
  for (int64_t parts = 2; parts * kLeastOfPart <= sizes.reduced; ++parts)
    if (const double taken = timeOf(parts); sizes.reduced % (parts * kStep) == 0 && taken < best.microseconds)
      best = {parts, taken};
  return best;
}

bool isSoonerByWarps(const ProductSizes &sizes) {
  constexpr double kLeastGain = 0.1, kLeastOfCopy = 2.5;
  const double operations = 2 * double(sizes.batch * sizes.rows) * double(sizes.columns) * double(sizes.reduced),
               turned =
                   double(sizes.batch * sizes.reduced) * double(std::min(sizes.rows, sizes.columns)) * sizeof(float);
  // Of less, launches are most of either, and clusters take sums apart.
  if (2 * turned / kBytesOfCopy < kLeastOfCopy)
    return false;
  const double byWarpgroups = 2 * turned / kBytesOfCopy + 2 * kMicrosecondsOfLaunch + kMicrosecondsOfSum +
                              std::max(operations / kByWarpgroups, microsecondsOfOperands(sizes));
  return partsByWarps(sizes).microseconds < (1 - kLeastGain) * byWarpgroups;
}

bool liesAcrossTwice(const Contraction &product) {
  linalg::GenericOp op = product.op;
  if (!hasHopperTf32(op) || product.reduced.size() != 1 || product.isRouted() ||
      !product.isSummedByAll(product.reduced.front()))
    return false;
  return llvm::all_of(ArrayRef{&product.left, &product.right}, [&](const ContractionSide *side) {
    if (side->inputs.size() != 1 || side->border || !isa<BlockArgument>(side->value) || !side->value.getType().isF32())
      return false;
    const AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(side->inputs.front()));
    return map.getNumResults() != 0 && isa<AffineDimExpr>(map.getResults().back()) &&
           cast<AffineDimExpr>(map.getResults().back()).getPosition() != product.reduced.front();
  });
}

} // namespace tenon::compiler::dispatch
