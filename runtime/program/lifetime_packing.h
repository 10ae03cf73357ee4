// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For functions whose file does not say it (the compiler's do): where temporary memory of a call lies in one block:
// each piece has a lifetime, and two pieces may share bytes when their lifetimes do not meet. Offsets are multiples
// of kBufferAlignment.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::runtime {

struct ArenaPiece {
  uint64_t bytes = 0;
  uint32_t first = 0, last = 0; // commands that use it, both included
  uint64_t offset = 0;          // the answer
};

/// Sets every piece's offset: the largest first, each at the lowest place where it fits.
/// @return bytes of the whole, a multiple of kBufferAlignment; ~0 where they pass 2^63
uint64_t planArena(std::vector<ArenaPiece> &pieces);

} // namespace tenon::runtime
