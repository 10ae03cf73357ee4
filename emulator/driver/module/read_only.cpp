// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bytes a launch may not write: a parameter says where they begin, nothing says where they end, so they end where
// the next pointer of the same launch points, or with the allocation.
#include "emulator/driver/module/read_only.h"

#include "emulator/async/tensor_map.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>
#include <utility>

namespace tenon::emulator {

/// Where in its parameter the pointer stands that is declared at byte `offset`: there, or in the tensor map that begins
/// there.
static size_t pointerOffset(std::span<const uint8_t> parameter, size_t offset) {
  uint32_t mark = 0;
  if (parameter.size() - offset >= kTensorMapBytes)
    memcpy(&mark, parameter.data() + offset, sizeof(mark));
  return mark == TensorMap::kMark ? offset + offsetof(TensorMap, address) : offset;
}

std::vector<ReadOnlyRange> readOnlyRanges(const Kernel &kernel, const Memory &memory,
                                          const std::vector<uint8_t> &parameters) {
  std::vector<ReadOnlyRange> ranges;
  if (kernel.readOnlyPointers.empty())
    return ranges;
  auto bytesOf = [&](size_t index) {
    const auto &declared = kernel.decoded->parameters[index];
    return std::span(parameters).subspan(declared.offset, declared.bytes);
  };
  auto valueAt = [&](size_t index, size_t offset) {
    uint64_t value = 0;
    memcpy(&value, bytesOf(index).data() + offset, sizeof(value));
    return value;
  };
  std::set<std::pair<size_t, size_t>> declared; // parameter, byte in it where the address stands
  for (const auto &[place, name] : kernel.readOnlyPointers)
    declared.emplace(place.first, pointerOffset(bytesOf(place.first), place.second));
  struct Value {
    uint64_t address;
    bool isReadOnly;
  };
  std::vector<Value> values; // of everything that may be a pointer, those in structs included
  for (size_t i = 0; i < kernel.decoded->parameters.size(); ++i)
    for (size_t offset = 0; offset + sizeof(uint64_t) <= kernel.decoded->parameters[i].bytes;
         offset += sizeof(uint64_t))
      values.push_back({valueAt(i, offset), declared.contains({i, offset})});
  for (const auto &[place, name] : kernel.readOnlyPointers) {
    const uint64_t begin = valueAt(place.first, pointerOffset(bytesOf(place.first), place.second));
    const Allocation *allocation = memory.find(begin);
    if (!allocation)
      continue;
    uint64_t end = allocation->end();
    bool alsoWritten = false;
    for (const Value &other : values) {
      alsoWritten |= other.address == begin && !other.isReadOnly;
      if (other.address > begin)
        end = std::min(end, other.address);
    }
    if (!alsoWritten)
      ranges.push_back({begin, end - begin, name});
  }
  return ranges;
}

} // namespace tenon::emulator
