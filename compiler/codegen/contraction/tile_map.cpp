// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/tile_map.h"

#include "abi/tensor_map.h"
#include "compiler/dialect/hal/HalAttrs.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kRowBytes = 128; // of a swizzled box
constexpr uint32_t kMapAlignment = 64;

/// The axis of the space that each dimension of the tensor belongs to; nothing where one is indexed by no loop alone.
std::optional<SmallVector<unsigned>> axesOf(const GroupShape &shape, const KernelOp &op, const KernelTensor &tensor) {
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(op.op);
  SmallVector<unsigned> axes;
  for (AffineExpr expr : tensor.map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return std::nullopt;
    for (auto [number, axis] : llvm::enumerate(shape.axes))
      if (llvm::is_contained(axis.axes, groupAxes[loop.getPosition()]))
        axes.push_back(number);
  }
  return axes;
}

uint32_t elementsInRow(Type element) {
  return kRowBytes * 8 / element.getIntOrFloatBitWidth();
}

/// A map of the tensor without its box; nothing where there is none whose innermost dimension is `innermost`.
std::optional<TileMap> wholeMap(const GroupShape &shape, const KernelOp &op, const KernelTensor &tensor,
                                unsigned innermost) {
  std::optional<SmallVector<unsigned>> axes = axesOf(shape, op, tensor);
  if (!axes || axes->empty() || axes->back() != innermost)
    return std::nullopt;
  // Rows of a size that is known not to be a multiple of 16 bytes have no map.
  const SpaceAxis &last = shape.axes[innermost];
  if (last.size && *last.size * (tensor.element.getIntOrFloatBitWidth() / 8) % 16 != 0)
    return std::nullopt;
  TileMap map{.binding = tensor.binding, .element = tensor.element, .axes = {}, .box = {}};
  for (unsigned axis : *axes) {
    if (map.axes.size() == 1 && map.axes.front() == axis)
      continue; // the outermost dimensions are one
    if (llvm::is_contained(map.axes, axis))
      return std::nullopt;
    map.axes.push_back(axis);
  }
  return map.axes.size() <= abi::kMaxTensorMapRank ? std::optional(map) : std::nullopt;
}

} // namespace

std::optional<TileMap> mapOf(const GroupShape &shape, const Product &product, const Operand &operand, uint32_t side,
                             uint32_t depth, uint32_t parts) {
  // Tensor cores turn only elements of 16 bits.
  const bool liesAsRead = operand.isAlongReduced || operand.value.getType().getIntOrFloatBitWidth() == 16;
  if (!operand.plain || !liesAsRead || operand.across.size() != 1 || product.reduced.size() != 1)
    return std::nullopt;
  std::optional<TileMap> map = wholeMap(shape, *product.op, operand.plain->tensor, operand.vectorAxis);
  if (!map || !llvm::is_contained(map->axes, operand.across.front()) ||
      !llvm::is_contained(map->axes, product.reduced.front()))
    return std::nullopt;
  map->across = operand.isAlongReduced ? side / parts : elementsInRow(map->element);
  map->boxes = side / map->across;
  if (map->boxes % parts != 0)
    return std::nullopt;
  if (Type element = product.warpElement(); element && element.isTF32())
    map->element = element;
  for (unsigned axis : map->axes) {
    const bool isReduced = axis == product.reduced.front(), isAcross = axis == operand.across.front();
    map->box.push_back(isReduced ? depth : isAcross ? map->across : 1);
  }
  return map;
}

Type TileMap::type(MLIRContext *context) const {
  return hal::TensorMapType::get(context, binding, box, element, /*elementStrides=*/{},
                                 uint32_t(abi::TensorMapInterleave::None), uint32_t(abi::TensorMapSwizzle::B128),
                                 uint32_t(abi::TensorMapPromotion::L2B128), uint32_t(abi::TensorMapFill::Zeros),
                                 kMapAlignment, /*isOptional=*/true);
}

} // namespace tenon::compiler::codegen
