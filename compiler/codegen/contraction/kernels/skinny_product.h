// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction with few rows (or columns): of the wide side each element is read once, and how fast memory brings it
// is all that matters. So nothing passes through shared memory: each thread loads 16 bytes of the wide side at a time
// into registers and multiplies them there. Warps of a block divide the reduced elements among them; what they have
// summed comes together in shared memory at the end.
//
// Lane l of a warp is (g, t) = (l / 4, l % 4), and in each step holds `positions` of the wide side times `each` reduced
// elements, those from each * t on:
//
//   adjacent along the reduced elements:  positions g, g + 8, ...           each a vector
//   adjacent across:                      positions * g and those behind    a vector for each reduced element
//
// In either case four lanes of one g hold a row and 4 * each reduced elements of it, in an order that does not matter
// to a sum: it is the fragment that mma.sync wants of the wide side as its 16 rows. Eight of the few rows are its
// columns. Elsewhere (other types, sm_75) each lane multiplies for itself, and the lanes of one g add up.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

/// How a skinny product is computed.
struct SkinnyShape {
  bool fewAreRows;     // else columns
  uint32_t few;        // of a block, a multiple of 8
  uint32_t positions;  // of the wide side, of a lane: 2, 4 or 8
  uint32_t depthWarps; // warps that divide the reduced elements
};

/// Bytes of shared memory that what one of the warps' parts has summed takes, of sums of so many bytes; at most
/// kMostSkinnyBytes of them there are.
uint32_t skinnyPartBytes(const SkinnyShape &shape, uint32_t threads, uint32_t sumBytes);
inline constexpr uint32_t kMostSkinnyBytes = 40 << 10;
/// Positions of the wide side that a block of so many threads takes.
uint32_t widePerBlock(const SkinnyShape &shape, uint32_t threads);
/// Reduced elements of a step on tensor cores: a lane has 16 bytes of them, or, where they are computed, of what they
/// are computed from.
uint32_t skinnyDepth(const Product &product, const GroupShape &shape, const Operand &wide);
/// `kernel.rows` and the like are set here.
void writeSkinnyProduct(ProductKernel kernel, const SkinnyShape &shape, bool hasTensorCores);

} // namespace tenon::compiler::codegen
