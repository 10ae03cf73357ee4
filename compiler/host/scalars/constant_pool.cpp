// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/scalars/constant_pool.h"

#include "compiler/dialect/hal/declarations.h"
#include "support/memory.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace mlir;

namespace tenon::compiler::host {
namespace {

constexpr uint64_t kMaxConstantBytes = uint64_t(1) << 48;
constexpr uint64_t kMostRepeatedBytes = uint64_t(1) << 20; // which are inline in the file

std::optional<uint64_t> byteCount(ShapedType type, uint64_t elementBytes) {
  uint64_t bytes = elementBytes;
  for (int64_t size : type.getShape()) {
    bool isTooLarge = false;
    bytes = llvm::SaturatingMultiply(bytes, uint64_t(size), &isTooLarge);
    if (isTooLarge)
      return std::nullopt;
  }
  return bytes <= kMaxConstantBytes ? std::optional(bytes) : std::nullopt;
}

std::span<const uint8_t> asBytes(ArrayRef<char> raw) {
  return {reinterpret_cast<const uint8_t *>(raw.data()), raw.size()};
}

/// Bytes of i1 values, which MLIR packs.
Constant truthValues(DenseElementsAttr value, uint64_t size) {
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  if (value.isSplat()) {
    bytes->push_back(value.getSplatValue<bool>());
  } else {
    bytes->reserve(size);
    for (bool element : value.getValues<bool>())
      bytes->push_back(element);
  }
  return {*bytes, size, bytes};
}

bool repeats(std::span<const uint8_t> bytes, uint64_t period) {
  return bytes.size() % period == 0 && std::memcmp(bytes.data(), bytes.data() + period, bytes.size() - period) == 0;
}

/// The shortest of a few periods: powers of two, and what the last dimensions hold.
uint64_t periodOf(std::span<const uint8_t> bytes, ArrayRef<int64_t> shape, uint64_t elementBytes) {
  const uint64_t most = std::min(kMostRepeatedBytes, uint64_t(bytes.size()) / 2);
  std::vector<uint64_t> periods;
  for (uint64_t period = 1; period <= most; period *= 2)
    periods.push_back(period);
  uint64_t row = elementBytes;
  for (int64_t size : llvm::reverse(shape))
    if (row *= uint64_t(size); row != 0 && row <= most)
      periods.push_back(row);
  llvm::sort(periods);
  for (uint64_t period : periods)
    if (repeats(bytes, period))
      return period;
  return bytes.size();
}

} // namespace

FailureOr<uint32_t> ConstantPool::intern(ElementsAttr value, Location location) {
  ShapedType type = value.getShapedType();
  std::optional<abi::ElementType> element = elementTypeOf(type.getElementType());
  if (!element)
    return emitError(location) << "a constant of element type " << type.getElementType() << " is not supported";
  const uint64_t elementBytes = abi::byteSize(*element);
  const std::optional<uint64_t> size = byteCount(type, elementBytes);
  if (!size)
    return emitError(location) << "a constant of type " << Type(type) << " is too large, the limit is "
                               << kMaxConstantBytes << " bytes";
  Constant constant{.bytes = {}, .size = *size, .owner = nullptr};
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && *size != 0 && type.getElementType().isInteger(1)) {
    if (Status room = checkMemory(dense.isSplat() ? 1 : *size, "a constant"); !room.ok())
      return emitError(location) << std::string(room.message());
    constant = truthValues(dense, *size);
  } else if (dense) {
    constant.bytes = asBytes(dense.getRawData());
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return emitError(location) << "the bytes of resource '" << resource.getRawHandle().getKey()
                                 << "' are not in the file";
    constant.bytes = asBytes(blob->getData());
  } else {
    return emitError(location) << "only dense<...> and dense_resource<...> constants are supported";
  }
  if (*size == 0)
    constant.bytes = {};
  const uint64_t wanted = dense && dense.isSplat() && *size != 0 ? elementBytes : *size;
  if (constant.bytes.size() != wanted)
    return emitError(location) << "the constant has " << constant.bytes.size() << " bytes, its type " << Type(type)
                               << " takes " << wanted;
  constant.bytes = constant.bytes.first(periodOf(constant.bytes, type.getShape(), elementBytes));
  return add(std::move(constant));
}

uint32_t ConstantPool::add(Constant constant) {
  const std::span<const uint8_t> bytes = constant.bytes;
  const std::pair key(constant.size, llvm::xxh3_64bits(ArrayRef<uint8_t>(bytes.data(), bytes.size())));
  for (auto [at, end] = indices_.equal_range(key); at != end; ++at)
    if (llvm::equal(constants_[at->second].bytes, bytes))
      return at->second;
  constants_.push_back(std::move(constant));
  return indices_.emplace(key, uint32_t(constants_.size() - 1))->second;
}

std::vector<Constant> ConstantPool::take() {
  indices_.clear();
  return std::exchange(constants_, {});
}

} // namespace tenon::compiler::host
