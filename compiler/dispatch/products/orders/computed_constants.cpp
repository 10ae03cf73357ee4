// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/computed_constants.h"

#include "support/memory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cstdint>
#include <cstring>
#include <optional>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// A constant's bytes, row-major, of elements of whole bytes.
struct Elements {
  RankedTensorType type;
  ArrayRef<char> bytes;
  bool isSplat = false; // one element stands for all
  size_t size() const { return type.getElementTypeBitWidth() / 8; }
};

std::optional<Elements> elementsOf(Value tensor) {
  auto constant = tensor.getDefiningOp<arith::ConstantOp>();
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!constant || !type || !type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() % 8 != 0 ||
      type.getNumElements() == 0)
    return std::nullopt;
  Elements elements{type, {}};
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
    elements.bytes = dense.getRawData();
    elements.isSplat = dense.isSplat();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue())) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    elements.bytes = blob->getData();
  }
  const size_t wanted = elements.size() * (elements.isSplat ? 1 : size_t(type.getNumElements()));
  return elements.bytes.size() == wanted ? std::optional(elements) : std::nullopt;
}

/// Bytes from one place to the next, along each dimension.
SmallVector<size_t> stridesOf(ArrayRef<int64_t> shape, size_t elementBytes) {
  SmallVector<size_t> strides(shape.size());
  size_t stride = elementBytes;
  for (size_t dimension = shape.size(); dimension-- > 0; stride *= size_t(shape[dimension]))
    strides[dimension] = stride;
  return strides;
}

template <typename Word> void copyRow(const char *from, size_t fromStride, char *to, size_t toStride, int64_t count) {
  for (int64_t place = 0; place < count; ++place, from += fromStride, to += toStride)
    std::memcpy(to, from, sizeof(Word));
}

/// `count` elements, each at its stride.
void copyRow(const char *from, size_t fromStride, char *to, size_t toStride, int64_t count, size_t elementBytes) {
  if (fromStride == elementBytes && toStride == elementBytes)
    std::memcpy(to, from, size_t(count) * elementBytes);
  else if (elementBytes == sizeof(uint8_t))
    copyRow<uint8_t>(from, fromStride, to, toStride, count);
  else if (elementBytes == sizeof(uint16_t))
    copyRow<uint16_t>(from, fromStride, to, toStride, count);
  else if (elementBytes == sizeof(uint32_t))
    copyRow<uint32_t>(from, fromStride, to, toStride, count);
  else
    for (int64_t place = 0; place < count; ++place)
      std::memcpy(to + size_t(place) * toStride, from + size_t(place) * fromStride, elementBytes);
}

/// `sizes` elements along each dimension.
void copy(const char *from, ArrayRef<size_t> fromStrides, char *to, ArrayRef<size_t> toStrides, ArrayRef<int64_t> sizes,
          size_t elementBytes) {
  if (sizes.empty())
    return copyRow(from, 0, to, 0, 1, elementBytes);
  if (sizes.size() == 1)
    return copyRow(from, fromStrides.front(), to, toStrides.front(), sizes.front(), elementBytes);
  for (int64_t place = 0; place < sizes.front(); ++place)
    copy(from + size_t(place) * fromStrides.front(), fromStrides.drop_front(), to + size_t(place) * toStrides.front(),
         toStrides.drop_front(), sizes.drop_front(), elementBytes);
}

/// A constant of `shape` whose elements are zero, but for those of `elements`: along its dimension d those along
/// dimension order[d] of theirs.
Value rearranged(OpBuilder &b, Location loc, const Elements &elements, ArrayRef<int64_t> order,
                 ArrayRef<int64_t> shape) {
  const RankedTensorType type = elements.type.clone(shape);
  const size_t bytes = size_t(type.getNumElements()) * elements.size();
  if (!checkMemory(bytes, "a turned constant").ok())
    return {};
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(bytes, /*align=*/16);
  char *made = blob.getMutableData().data();
  std::memset(made, 0, bytes);
  SmallVector<size_t> strides = stridesOf(elements.type.getShape(), elements.size());
  if (elements.isSplat)
    strides.assign(strides.size(), 0);
  SmallVector<size_t> fromStrides;
  SmallVector<int64_t> sizes;
  for (int64_t from : order) {
    fromStrides.push_back(strides[from]);
    sizes.push_back(elements.type.getDimSize(from));
  }
  copy(elements.bytes.data(), fromStrides, made, stridesOf(shape, elements.size()), sizes, elements.size());
  return arith::ConstantOp::create(b, loc, DenseResourceElementsAttr::get(type, "tenon.computed", std::move(blob)));
}

} // namespace

bool isMovableConstant(Value tensor) {
  return elementsOf(tensor).has_value();
}

Value turnedConstant(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> order) {
  const std::optional<Elements> elements = elementsOf(tensor);
  if (!elements)
    return {};
  const SmallVector<int64_t> shape =
      llvm::map_to_vector(order, [&](int64_t from) { return elements->type.getDimSize(from); });
  if (elements->isSplat) { // stays one element
    auto splat = cast<DenseElementsAttr>(tensor.getDefiningOp<arith::ConstantOp>().getValue());
    return arith::ConstantOp::create(b, loc, splat.resizeSplat(elements->type.clone(shape)));
  }
  return rearranged(b, loc, *elements, order, shape);
}

Value lengthenedConstant(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> shape) {
  const std::optional<Elements> elements = elementsOf(tensor);
  if (!elements || elements->isSplat)
    return {};
  return rearranged(b, loc, *elements, llvm::to_vector(llvm::seq<int64_t>(0, elements->type.getRank())), shape);
}

} // namespace tenon::compiler::dispatch
