// A variable of .param or .local memory, place by place: what stands where, as far as offsets are constants.
#pragma once

#include "linker/access/origins.h"

#include <cstddef>
#include <cstdint>
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

/// Whether `into` has grown, as in the next two.
bool joinInto(Origins &into, const Origins &value);
bool storeInto(Cell &cell, int64_t offset, uint64_t bytes, const Origins &value);
bool joinInto(Cell &into, const Cell &from);

/// What may stand in the `bytes` at `offset`; a number where nothing was stored.
Origins loadFrom(const Cell &cell, int64_t offset, uint64_t bytes);

} // namespace tenon::linker
