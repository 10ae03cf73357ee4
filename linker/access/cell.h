// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A variable of .param or .local memory, place by place: what stands where, as far as offsets are constants.
#pragma once

#include "linker/access/origins.h"
#include "linker/access/parameter_slot.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::linker {

struct CellEntry {
  int64_t offset = 0; // bytes
  uint64_t bytes = 0;
  Origins value;
  bool operator==(const CellEntry &) const = default;
};
using Cell = std::vector<CellEntry>;

/// Contents of which nobody knows what stands where.
Cell anywhere(const Origins &value);

/// What a kernel finds in one of its parameters, of so many bytes: each pointer at its offset, and between them what
/// the slot of the parameter itself stands for (a number, where it has none).
void kernelArgument(const ParameterSlots &slots, uint32_t parameter, uint64_t bytes, Cell &cell);

/// Whether `into` has grown, as in the next two.
bool joinInto(Origins &into, const Origins &value);
bool storeInto(Cell &cell, int64_t offset, uint64_t bytes, const Origins &value);
bool joinInto(Cell &into, const Cell &from);

/// What may stand in the `bytes` at `offset`; a number where nothing was stored. What was stored there comes back whole
/// where nothing else reaches into these bytes, and cut where they are others than it took.
Origins loadFrom(std::span<const CellEntry> cell, int64_t offset, uint64_t bytes, const Secrets &secrets);

/// Whether all of these bytes were stored to.
/// What a load of `width` bytes somewhere in these finds. Accesses are aligned to their width: a word of 8 bytes that
/// was stored as one is loaded as one, or not at all.
Origins loadSomewhere(std::span<const CellEntry> cell, int64_t offset, uint64_t bytes, uint32_t width,
                      const Secrets &secrets);
bool isStored(std::span<const CellEntry> cell, int64_t offset, uint64_t bytes);

/// Whether the `bytes` at `offset` are some of the `size` at `begin`.
constexpr bool isWithin(int64_t offset, uint64_t bytes, int64_t begin, uint64_t size) {
  return offset >= begin && bytes <= size && uint64_t(offset) - uint64_t(begin) <= size - bytes;
}

/// Everything that stands in it, whole and cut.
Origins loadAnywhere(std::span<const CellEntry> cell, const Secrets &secrets);

} // namespace tenon::linker
