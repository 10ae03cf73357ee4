// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-align-products (Passes.td): operands of products and convolutions are copied where that is faster than to read
// them as they lie (products/).
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/dialect/tile_side.h"
#include "compiler/dispatch/Passes.h"
#include "compiler/dispatch/analysis/convolutions/grouped.h"
#include "compiler/dispatch/analysis/convolutions/grouped_filters.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"
#include "compiler/dispatch/analysis/products/warp_tiles.h"
#include "compiler/dispatch/prepare/loops/unit_sums.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "compiler/dispatch/products/images/channel_order.h"
#include "compiler/dispatch/products/images/channels_last.h"
#include "compiler/dispatch/products/images/filters_along.h"
#include "compiler/dispatch/products/images/joined_images.h"
#include "compiler/dispatch/products/images/picked_places.h"
#include "compiler/dispatch/products/images/scalar_channels_last.h"
#include "compiler/dispatch/products/images/turned_filters.h"
#include "compiler/dispatch/products/matrix_product.h"
#include "compiler/dispatch/products/more_filters.h"
#include "compiler/dispatch/products/patches/few_channels.h"
#include "compiler/dispatch/products/patches/ordered_patches.h"
#include "compiler/dispatch/products/patches/phases.h"
#include "compiler/dispatch/products/patches/repeated_channels.h"
#include "compiler/dispatch/products/patches/shifted_images.h"
#include "compiler/dispatch/products/patches/whole_patches.h"
#include "compiler/dispatch/products/starts.h"
#include "compiler/dispatch/quantized/integer_products.h"
#include "compiler/dispatch/quantized/zero_points.h"
#include "compiler/dispatch/winograd/multiply_tiles.h"
#include "compiler/dispatch/winograd/taken_in.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

#define GEN_PASS_DEF_ALIGNPRODUCTS
#include "compiler/dispatch/Passes.h.inc"

namespace {

/// What reads its operands itself.
bool hasOwnKernel(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  return generic && isOfAttention(generic);
}

/// Whether a kernel of its own reads the operands, in any order.
bool isOfSmallGroups(const Convolution &convolution) {
  const std::optional<Contraction> product = contractionOf(convolution.op), sum = productOf(convolution.op);
  return (product && GroupedWindows::of(*product)) || (sum && GroupedFilters::of(*sum));
}

/// What the operation has become, which is gone then, where it reads places of its image that were picked.
linalg::LinalgOp withPickedPlaces(linalg::LinalgOp op) {
  linalg::GenericOp window = isMatrixProduct(op) ? linalg::GenericOp() : genericWindowOf(op);
  if (!window)
    return op;
  const std::optional<Convolution> convolution = Convolution::ofUnknownImages(window);
  const bool isPicked = convolution && !isOfSmallGroups(*convolution) && pickPlaces(*convolution);
  return cast<linalg::LinalgOp>((isPicked ? joinSums(window) : window).getOperation());
}

/// Whether what the tensor has last begins at vectors.
bool liesInVectors(const OpOperand *operand) {
  constexpr int64_t kVectorBytes = 16;
  auto type = cast<RankedTensorType>(operand->get().getType());
  return type.getShape().back() * int64_t(elementBytes(type.getElementType())) % kVectorBytes == 0;
}

/// @param tiles how convolutions of f32 are computed by Winograd's, where that is allowed
void align(Convolution convolution, function_ref<bool(const Convolution &)> tiles) {
  if (isOfSmallGroups(convolution))
    return;
  addFilters(convolution);
  if (convolution.hasManyChannels() || !convolution.isOnCores)
    readBackwards(convolution);
  if (!convolution.isOnCores && tiles(convolution))
    return;
  if (linalg::GenericOp apart = separatePhases(convolution)) {
    const std::optional<Convolution> smaller = Convolution::of(apart);
    if (!smaller)
      return bringFiltersAlong(apart); // a product of matrices, or a small one
    convolution = *smaller;
  }
  if (!convolution.isOnCores)
    return bringScalarChannelsLast(convolution);
  if (!convolution.hasManyChannels() && (multiplyShiftedImages(convolution) || readsBothAcross(convolution)))
    return;
  if (multiplyOrderedPatches(convolution))
    return;
  if (!convolution.hasManyChannels() && !addChannels(convolution)) {
    linalg::GenericOp joined = joinWindowWithChannels(convolution);
    const std::optional<Convolution> made = joined ? Convolution::of(joined) : std::nullopt;
    if (!made || !made->isOfFilters || !made->hasManyChannels() || liesInVectors(made->filters))
      return;
    convolution = *made;
  }
  bringChannelsLast(convolution);
}

/// Whether images may go from one convolution to another one, also of each channel for itself. (An earlier pass may
/// have made all of them generic.)
bool hasSeveralWindows(func::FuncOp function) {
  unsigned windows = 0;
  function.walk([&](linalg::LinalgOp op) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    windows += !generic ? linalg::isaConvolutionOpInterface(op)
                        : Convolution::ofUnknownImages(generic).has_value() || isWindow(generic);
  });
  return windows > 1;
}

/// Of the targets that the module names; none where one of them is unknown.
SmallVector<abi::TargetArch> architecturesOf(ModuleOp module) {
  SmallVector<abi::TargetArch> architectures;
  for (hal::ExecutableTargetAttr target : targetsOf(module)) {
    const FailureOr<abi::TargetArch> found = targetArchOf(target);
    if (failed(found))
      return {};
    architectures.push_back(*found);
  }
  return architectures;
}

struct AlignProducts : impl::AlignProductsBase<AlignProducts> {
  using AlignProductsBase::AlignProductsBase;

  void runOnOperation() override {
    if (tf32)
      getOperation()->setAttr(kTf32Attr, UnitAttr::get(&getContext()));
    if (isForOnly(getOperation(), kHopper))
      getOperation()->setAttr(kHopperOnlyAttr, UnitAttr::get(&getContext()));
    getOperation()->removeAttr(kWarpDeviceAttr);
    if (const std::optional<WarpDevice> device = WarpDevice::of(architecturesOf(getOperation())))
      getOperation()->setAttr(kWarpDeviceAttr, device->attribute(&getContext()));
    SmallVector<linalg::LinalgOp> found;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      addStartsBehind(function);
      multiplyIntegers(function);
      takeOutZeroPoints(function);
      dropUnitOffsets(function);
      if (hasSeveralWindows(function)) {
        generalizeOperations(function);
        eraseDeadOperations(function);
        orderChannels(function);
      }
      function.walk([&](linalg::LinalgOp op) { found.push_back(op); });
    }
    for (linalg::LinalgOp each : found) {
      const Location loc = each.getLoc();
      auto side = winograd && !tilePinOf(each) ? each->getAttrOfType<IntegerAttr>(kTileSideAttr) : IntegerAttr();
      linalg::LinalgOp op = withPickedPlaces(each);
      if (isMatrixProduct(op)) {
        if (!hasOwnKernel(op))
          alignOperands(op);
      } else if (linalg::GenericOp window = genericWindowOf(op)) {
        if (!isOfAttention(window) && repeatChannels(window)) {
          // Each channel for itself now.
        } else if (linalg::GenericOp product = multiplyPatches(window)) {
          const DictionaryAttr attributes = product->getDiscardableAttrDictionary();
          product = joinSums(product);
          product->setDiscardableAttrs(attributes); // a tile that the program names
          dropSingleImage(product);
        } else if (!isOfAttention(window) && joinImages(window)) {
          // A product of matrices now, of operands that lie as tiles are read.
        } else if (std::optional<Convolution> convolution = Convolution::of(window)) {
          align(*convolution, [&](const Convolution &each) {
            side = {}; // multiplyTiles says what it becomes
            return winograd && multiplyTiles(each, print);
          });
        } else if ((convolution = Convolution::ofUnknownImages(window))) {
          if (convolution->isOnCores && !isOfSmallGroups(*convolution)) {
            if (convolution->hasManyChannels())
              bringChannelsLast(*convolution);
            else if (!convolution->isOfFilters)
              joinWindowWithChannels(*convolution);
          }
        } else {
          readBackwards(window);
          bringEachChannelLast(window);
          bringFiltersAlong(window);
        }
      }
      if (side)
        warnOfTileSide(loc, side);
    }
    IRRewriter rewriter(&getContext());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      takeInBehind(function);
      (void)runRegionDCE(rewriter, function->getRegions());
    }
  }
};

} // namespace

} // namespace tenon::compiler::dispatch
