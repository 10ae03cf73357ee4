// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/cell.h"

#include <algorithm>

namespace tenon::linker {

static constexpr size_t kMaxCellEntries = 256; // places that are told apart; beyond them all are one
static constexpr int64_t kAnyOffset = INT64_MIN / 2;
static constexpr uint64_t kAnyBytes = UINT64_MAX;

Cell anywhere(const Origins &value) {
  return {{kAnyOffset, kAnyBytes, value}};
}

void kernelArgument(const ParameterSlots &slots, uint32_t parameter, uint64_t bytes, Cell &cell) {
  constexpr uint64_t kPointerBytes = 8;
  cell.clear();
  Origins rest = Origins::number();
  for (uint32_t i = 0; i < slots.size(); ++i) {
    if (slots[i].parameter != parameter || slots[i].isMap)
      continue;
    if (slots[i].isPointer)
      cell.push_back({static_cast<int64_t>(slots[i].offset), kPointerBytes, Origins::of(slotOf(i))});
    else
      rest = Origins::of(slotOf(i));
  }
  std::ranges::sort(cell, {}, &CellEntry::offset);
  uint64_t begin = 0;
  for (size_t i = 0, pointers = cell.size(); i < pointers; ++i) {
    const auto offset = static_cast<uint64_t>(cell[i].offset);
    if (begin < offset)
      cell.push_back({static_cast<int64_t>(begin), offset - begin, rest});
    begin = offset + kPointerBytes;
  }
  if (begin < bytes)
    cell.push_back({static_cast<int64_t>(begin), bytes - begin, rest});
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

/// Offsets are those of one variable, below 2^63 bytes; the difference is exact in unsigned arithmetic.
static bool overlaps(const CellEntry &entry, int64_t offset, uint64_t bytes) {
  return offset >= entry.offset ? uint64_t(offset) - uint64_t(entry.offset) < entry.bytes
                                : uint64_t(entry.offset) - uint64_t(offset) < bytes;
}

Origins loadFrom(std::span<const CellEntry> cell, int64_t offset, uint64_t bytes, const Secrets &secrets) {
  Origins value;
  const CellEntry *whole = nullptr, *only = nullptr;
  uint32_t found = 0;
  for (const CellEntry &entry : cell) {
    if (!overlaps(entry, offset, bytes))
      continue;
    ++found;
    only = &entry;
    value.join(entry.value);
    if (entry.offset == offset && entry.bytes == bytes)
      whole = &entry;
  }
  if (found == 0)
    return Origins::number();
  if (found == 1 && whole)
    return value;
  if (found == 1 && only->offset == offset && bytes < only->bytes && bytes > 1)
    return secrets.truncated(value);
  Origins all = secrets.cut(value);
  return whole ? all.join(whole->value) : all;
}

Origins loadSomewhere(std::span<const CellEntry> cell, int64_t offset, uint64_t bytes, uint32_t width,
                      const Secrets &secrets) {
  constexpr uint64_t kWord = 8;
  Origins value = Origins::number();
  for (const CellEntry &entry : cell)
    if (overlaps(entry, offset, bytes))
      value.join(width == kWord && entry.bytes == kWord ? entry.value : secrets.cut(entry.value));
  return value;
}

bool isStored(std::span<const CellEntry> cell, int64_t offset, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i)
    if (std::ranges::none_of(cell, [&](const CellEntry &entry) { return overlaps(entry, offset + int64_t(i), 1); }))
      return false;
  return true;
}

Origins loadAnywhere(std::span<const CellEntry> cell, const Secrets &secrets) {
  Origins all;
  for (const CellEntry &entry : cell)
    all.join(entry.value).join(secrets.cut(entry.value));
  return all;
}

} // namespace tenon::linker
