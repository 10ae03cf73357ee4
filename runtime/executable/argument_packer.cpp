// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a parameter layout and the values of a dispatch. Out: one block of bytes and a pointer to each parameter in it.
// Where a parameter lies in the block is abi::computeParameterLayout's word alone (abi/kernel_abi.md, K-3).
#include "runtime/executable/argument_packer.h"

#include <algorithm>
#include <cstring>

namespace tenon::runtime {

ArgumentPack::ArgumentPack(const abi::ParameterLayout &layout, TensorMapEncoder encode)
    : layout_(&layout), encode_(encode), words_((layout.bytes + sizeof(Word) - 1) / sizeof(Word)),
      addresses_(layout.bindings), maps_(layout.tensorMaps.size()), encodedFrom_(layout.tensorMaps.size()) {
  uint8_t *block = reinterpret_cast<uint8_t *>(words_.data());
  pointers_.reserve(layout.parameters.size());
  for (const abi::Parameter &parameter : layout.parameters)
    pointers_.push_back(block + parameter.offset);
}

Result<ArgumentPack> ArgumentPack::pack(const abi::ParameterLayout &layout, TensorMapEncoder encode,
                                        std::span<const DeviceRange> bindings, std::span<const uint64_t> constants) {
  ArgumentPack pack(layout, encode);
  TENON_RETURN_IF_ERROR(pack.set(bindings, constants));
  return pack;
}

Status ArgumentPack::setTensorMap(const abi::Slot &slot, std::span<const DeviceRange> bindings,
                                  std::span<const uint64_t> constants) {
  const abi::EncodedTensorMap &declared = layout_->tensorMaps[slot.tensorMap];
  const std::span<const uint64_t> extents = constants.subspan(slot.firstWord, slot.words);
  const DeviceRange &range = bindings[declared.map.binding];
  Encoded &known = encodedFrom_[slot.tensorMap];
  CUtensorMap &map = maps_[slot.tensorMap];
  const bool isSame = known.valid && known.range.address == range.address && known.range.bytes == range.bytes &&
                      std::equal(extents.begin(), extents.end(), known.extents.begin());
  if (!isSame) {
    known.valid = false;
    Status status = encodeTensorMap(encode_, declared, range, extents, map);
    if (!status.ok())
      return std::move(status).withContext(concat("constant ", slot.index));
    known.valid = true;
    known.range = range;
    std::copy(extents.begin(), extents.end(), known.extents.begin());
  }
  std::memcpy(reinterpret_cast<uint8_t *>(words_.data()) + slot.offset, &map, sizeof(map));
  return okStatus();
}

Status ArgumentPack::set(std::span<const DeviceRange> bindings, std::span<const uint64_t> constants) {
  for (size_t i = 0; i < std::min(bindings.size(), addresses_.size()); ++i)
    addresses_[i] = bindings[i].address;
  TENON_RETURN_IF_ERROR(abi::packParameters(*layout_, addresses_.data(), bindings.size(), constants.data(),
                                            constants.size(), reinterpret_cast<uint8_t *>(words_.data()),
                                            words_.size() * sizeof(Word)));
  if (layout_->tensorMaps.empty())
    return okStatus();
  for (const abi::Slot &slot : layout_->slots)
    if (slot.tensorMap != abi::Slot::kNoTensorMap)
      TENON_RETURN_IF_ERROR(setTensorMap(slot, bindings, constants));
  return okStatus();
}

} // namespace tenon::runtime
