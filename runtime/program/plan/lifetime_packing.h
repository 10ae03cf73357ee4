// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the temporary memory of a call lies in one block, for functions whose file does not say it (the compiler's do:
// compiler/host/program/arena_layout.h). Each piece has a lifetime, and two pieces may share bytes when their lifetimes
// do not meet. Sizes are numbers here; the compiler places sizes that only a call knows. Offsets are multiples of
// kBufferAlignment.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::runtime {

struct PackedPiece {
  uint64_t bytes = 0;
  uint32_t first = 0, last = 0; // commands that use it, both included
  uint64_t offset = 0;          // the answer
};

/// Sets every piece's offset: the largest first, each at the lowest place where it fits.
/// @return bytes of the whole, a multiple of kBufferAlignment; ~0 where they pass 2^63
uint64_t packByLifetime(std::vector<PackedPiece> &pieces);

} // namespace tenon::runtime
