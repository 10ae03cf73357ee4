// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/cell.h"

#include <algorithm>

namespace tenon::linker {

static constexpr size_t kMaxCellEntries = 64; // places that are told apart; beyond them all are one
static constexpr int64_t kAnyOffset = INT64_MIN / 2;
static constexpr uint64_t kAnyBytes = UINT64_MAX;

Cell anywhere(const Origins &value) {
  return {{kAnyOffset, kAnyBytes, value}};
}

CellEntry kernelArgument(uint32_t parameter, uint64_t bytes) {
  return {0, std::max<uint64_t>(8, bytes), Origins::of(slotOf(parameter))};
}

bool joinInto(Origins &into, const Origins &value) {
  Origins before = into;
  into.join(value);
  return !(into == before);
}

bool storeInto(Cell &cell, int64_t offset, uint64_t bytes, const Origins &value) {
  for (CellEntry &entry : cell)
    if (entry.offset == offset && entry.bytes == bytes)
      return joinInto(entry.value, value);
  if (cell.size() == kMaxCellEntries) { // from here on, one place for all
    Origins all = value;
    for (const CellEntry &entry : cell)
      all.join(entry.value);
    cell = anywhere(all);
    return true;
  }
  if (cell.size() == 1 && cell.front().bytes == kAnyBytes)
    return joinInto(cell.front().value, value);
  cell.push_back({offset, bytes, value});
  return true;
}

bool joinInto(Cell &into, const Cell &from) {
  bool changed = false;
  for (const CellEntry &entry : from)
    changed |= storeInto(into, entry.offset, entry.bytes, entry.value);
  return changed;
}

Origins loadFrom(std::span<const CellEntry> cell, int64_t offset, uint64_t bytes) {
  Origins value;
  bool found = false;
  for (const CellEntry &entry : cell) {
    // Offsets are those of one variable, below 2^63 bytes; the difference is exact in unsigned arithmetic.
    const bool overlaps = offset >= entry.offset ? uint64_t(offset) - uint64_t(entry.offset) < entry.bytes
                                                 : uint64_t(entry.offset) - uint64_t(offset) < bytes;
    if (overlaps) {
      value.join(entry.value);
      found = true;
    }
  }
  return found ? value : Origins::number();
}

} // namespace tenon::linker
