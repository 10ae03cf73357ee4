// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/constant_pool.h"

#include "compiler/dialect/hal/declarations.h"
#include "support/memory.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

constexpr uint64_t kMaxConstantBytes = uint64_t(1) << 30;

/// Bytes of a dense<...> attribute, splats written out.
std::vector<uint8_t> denseBytes(DenseElementsAttr value, uint64_t elementBytes) {
  std::vector<uint8_t> bytes;
  bytes.reserve(size_t(value.getNumElements()) * elementBytes);
  if (value.getElementType().isInteger(1)) {
    for (bool element : value.getValues<bool>())
      bytes.push_back(element ? 1 : 0);
    return bytes;
  }
  ArrayRef<char> raw = value.getRawData();
  int64_t repeats = value.isSplat() ? value.getNumElements() : 1;
  for (int64_t i = 0; i < repeats; ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

} // namespace

FailureOr<uint32_t> ConstantPool::intern(ElementsAttr value, Location location) {
  ShapedType type = value.getShapedType();
  std::optional<abi::ElementType> element = elementTypeOf(type.getElementType());
  if (!element)
    return emitError(location) << "a constant of element type " << type.getElementType() << " is not supported";
  uint64_t elementBytes = abi::byteSize(*element);
  uint64_t count = uint64_t(type.getNumElements());
  if (count > kMaxConstantBytes / elementBytes)
    return emitError(location) << "a constant of " << count << " elements is too large, the limit is "
                               << kMaxConstantBytes << " bytes";
  if (Status room = checkMemory(count * elementBytes, "a constant"); !room.ok())
    return emitError(location) << std::string(room.message());
  std::vector<uint8_t> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    bytes = denseBytes(dense, elementBytes);
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return emitError(location) << "the bytes of resource '" << resource.getRawHandle().getKey()
                                 << "' are not in the file";
    bytes.assign(blob->getData().begin(), blob->getData().end());
  } else {
    return emitError(location) << "only dense<...> and dense_resource<...> constants are supported";
  }
  if (bytes.size() != count * elementBytes)
    return emitError(location) << "the constant has " << bytes.size() << " bytes, its type " << Type(type) << " takes "
                               << count * elementBytes;
  return indices_.try_emplace(std::move(bytes), uint32_t(indices_.size())).first->second;
}

std::vector<std::vector<uint8_t>> ConstantPool::take() {
  std::vector<std::vector<uint8_t>> constants(indices_.size());
  for (const auto &[bytes, index] : indices_)
    constants[index] = bytes;
  indices_.clear();
  return constants;
}

} // namespace tenon::compiler::host
