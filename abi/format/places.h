// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where exports are declared, as an executable keeps it: cold, so it is one compressed block that is decoded when a
// message asks for it.
#pragma once

#include "abi/layout.h"
#include "support/diagnostics.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::abi {

/// The inverse of SourceLocation::toString().
SourceLocation parseLocation(std::string_view text);

/// Bytes that a frame of places may decompress to, for so many exports (F-23).
constexpr uint64_t mostPlaceBytes(uint64_t exports) {
  return exports * 4096;
}

/// Line `ordinal` of a frame; unknown where there is none, or where it does not decompress.
SourceLocation placeFromFrame(std::span<const uint8_t> frame, uint32_t ordinal, uint64_t exports);

/// Executable.places; empty where no place is known. SourceLocations are written as toString() does.
std::vector<uint8_t> placesToFrame(const std::vector<Export> &exports);

} // namespace tenon::abi
