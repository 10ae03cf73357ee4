// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/warp_plans.h"

#include "abi/arch_table.h"
#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

// What a block may have wherever the program may run: code for sm_80 also runs on sm_86 and sm_89, and PTX on every
// later device. And what the system takes of each block.
static constexpr int64_t kMostBytes = 96 << 10, kReservedBytes = 1 << 10;

bool hasWarpPlan(const Product &product, const dispatch::WarpDevice &device) {
  auto isOne = [](ArrayRef<unsigned> axes) { return axes.size() == 1; };
  auto isCopied = [](const Operand &operand) {
    Type type = operand.value.getType();
    return operand.plain && !operand.border && (operand.isAlongReduced || dispatch::elementBytes(type) == 2);
  };
  return product.warpElement() && (!product.isOfF8() || device.number >= 89) && !product.routes &&
         product.places.empty() && isOne(product.rows) && isOne(product.columns) && isOne(product.reduced) &&
         isCopied(product.left) && isCopied(product.right);
}

/// Tiles of each multiprocessor; nothing: sizes are not known.
static std::optional<int64_t> tilesOfEach(const GroupShape &shape, const Product &product,
                                          const dispatch::WarpDevice &device, int64_t rows, int64_t columns) {
  const std::optional<int64_t> tiles = tilesOf(shape, product, rows, columns);
  if (!tiles)
    return std::nullopt;
  return int64_t(llvm::divideCeil(uint64_t(*tiles), uint64_t(device.multiprocessors)));
}

/// Whether 64 bytes of rows of both operands meet two lines of the cache, here and there: the multiprocessor asks for
/// lines one by one, and 128 bytes need fewer of them.
static bool areSplit(const GroupShape &shape, const Product &product) {
  constexpr int64_t kBytes = 64;
  const std::optional<int64_t> size = shape.sizeOf(product.reduced);
  return product.left.isAlongReduced && product.right.isAlongReduced && !product.addsSteps() && size &&
         *size * dispatch::elementBytes(product.left.value.getType()) % kBytes != 0;
}

TensorCoreStages stagesOf(const GroupShape &shape, const Product &product, const dispatch::WarpDevice &device,
                          int64_t rows, int64_t columns) {
  constexpr uint32_t kDepthBytes = 64, kLongDepthBytes = 128;
  constexpr int64_t kFewest = 3, kFewestLong = 2, kMost = 4, kSmall = 192, kLarge = 256;
  const int64_t side = rows + columns;
  const bool isLong = areSplit(shape, product);
  const bool isAlone = side <= kLarge && tilesOfEach(shape, product, device, rows, columns).value_or(2) <= 1;
  if (isAlone) {
    const uint32_t depthBytes = side <= kSmall || isLong ? kLongDepthBytes : kDepthBytes;
    return {depthBytes, uint32_t(kMostBytes / (side * depthBytes))};
  }
  int64_t resident = 1;
  for (const dispatch::WarpTile &tile : dispatch::warpTiles())
    if (tile.rows == rows && tile.columns == columns)
      resident = tile.resident;
  const int64_t bytes = std::min(kMostBytes, device.sharedBytes / resident - kReservedBytes);
  if (const int64_t count = bytes / (side * kLongDepthBytes); isLong && count >= kFewestLong)
    return {kLongDepthBytes, uint32_t(std::min(count, kFewest))};
  return {kDepthBytes, uint32_t(std::clamp(bytes / (side * kDepthBytes), kFewest, kMost))};
}

void chooseStages(Plan &plan, const GroupShape &shape, const Product &product, const dispatch::WarpDevice &device) {
  const int64_t rows = plan.choice("rows"), columns = plan.choice("columns");
  const TensorCoreStages stages = stagesOf(shape, product, device, rows, columns);
  plan.choose(kStages, stages.count);
  plan.choose(kStageBytes, stages.depthBytes);
  const uint32_t bytes = stages.bytes(uint32_t(rows), uint32_t(columns));
  plan.dynamicSharedBytes = bytes > abi::kMaxStaticSharedBytes ? bytes : 0;
}

const dispatch::WarpTile &bestWarpTile(const GroupShape &shape, const Product &product,
                                       const dispatch::WarpDevice &device) {
  constexpr double kLeastGain = 0.03; // of smaller tiles, which read more
  const dispatch::WarpTile *best = nullptr;
  double least = 0;
  const double bytes =
      double(shape.sizeOf(product.reduced).value_or(0)) * dispatch::elementBytes(product.left.value.getType());
  for (const dispatch::WarpTile &tile : dispatch::warpTiles()) {
    const double ofTile =
        dispatch::microsecondsOf(tile, device, double(*tilesOf(shape, product, tile.rows, tile.columns)), bytes);
    const double taken = areSplit(shape, product) ? tile.split * ofTile : ofTile;
    if (!best || taken < (1 - kLeastGain) * least)
      best = &tile, least = taken;
  }
  return *best;
}

} // namespace tenon::compiler::codegen
