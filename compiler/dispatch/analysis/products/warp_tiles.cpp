// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/warp_tiles.h"

#include "abi/arch_table.h"
#include "compiler/dialect/hal/default_targets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {

// clang-format off
static constexpr WarpTile kTiles[] = {{128, 256, 1, 65.5, 4.8, 65.5, 4.8, 1.43}, {256, 128, 1, 67.5, 4.8, 67.5, 4.8, 1.34},
                                      {128, 128, 2, 36.8, 3.2, 34.2, 2.6, 1.4},  {128, 64, 3, 23.5, 2.4, 22.6, 0.9, 1.6},
                                      {64, 128, 3, 24.4, 2, 22.6, 0.9, 1.6},     {64, 64, 4, 17.4, 1.3, 14.1, 0.4, 1.6}};
// clang-format on
static constexpr double kBytes = 8192;

std::optional<WarpDevice> WarpDevice::of(ArrayRef<abi::TargetArch> targets) {
  constexpr uint16_t kFirst = 80;
  std::optional<WarpDevice> least;
  for (const abi::TargetArch &target : targets) {
    const abi::Architecture *architecture = abi::findArchitecture(target.number);
    if (!architecture || target.number < kFirst || target == kHopper)
      return std::nullopt;
    const int64_t count = architecture->product.multiprocessors;
    const WarpDevice device{target.number, count != 0 ? count : abi::kHopperMultiprocessors,
                            architecture->limits.sharedBytes};
    if (!least)
      least = device;
    else
      least =
          WarpDevice{std::min(least->number, device.number), std::min(least->multiprocessors, device.multiprocessors),
                     std::min(least->sharedBytes, device.sharedBytes)};
  }
  return least;
}

std::optional<WarpDevice> WarpDevice::of(Operation *op) {
  Operation *const places[] = {op, op->getParentOfType<func::FuncOp>(), op->getParentOfType<ModuleOp>()};
  for (Operation *each : places)
    if (auto said = each ? each->getAttrOfType<DenseI64ArrayAttr>(kWarpDeviceAttr) : DenseI64ArrayAttr();
        said && said.size() == 3)
      return WarpDevice{said[0], said[1], said[2]};
  return std::nullopt;
}

DenseI64ArrayAttr WarpDevice::attribute(MLIRContext *context) const {
  return DenseI64ArrayAttr::get(context, {number, multiprocessors, sharedBytes});
}

ArrayRef<WarpTile> warpTiles() {
  return kTiles;
}

double microsecondsOf(const WarpTile &tile, const WarpDevice &device, double tiles, double bytes) {
  const double each = std::ceil(tiles / double(device.multiprocessors)), sums = bytes / kBytes;
  const double alone = sums * tile.alone + tile.besideAlone, shared = sums * tile.shared + tile.besideShared;
  // As many as there is place for, again and again, and then the others: the first of these has little beside it.
  const double others = std::fmod(each, double(tile.resident));
  return (each - others) * shared + (others > 0 ? alone + (others - 1) * shared : 0);
}

} // namespace tenon::compiler::dispatch
