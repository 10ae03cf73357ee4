// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A variable of .param or .local memory, place by place: what stands where, as far as offsets are constants.
#pragma once

#include "linker/access/origins.h"

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

/// What a kernel finds in a parameter of so many bytes.
CellEntry kernelArgument(uint32_t parameter, uint64_t bytes);

/// Whether `into` has grown, as in the next two.
bool joinInto(Origins &into, const Origins &value);
bool storeInto(Cell &cell, int64_t offset, uint64_t bytes, const Origins &value);
bool joinInto(Cell &into, const Cell &from);

/// What may stand in the `bytes` at `offset`; a number where nothing was stored.
Origins loadFrom(std::span<const CellEntry> cell, int64_t offset, uint64_t bytes);

} // namespace tenon::linker
