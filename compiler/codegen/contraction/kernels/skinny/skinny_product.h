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

#include "compiler/codegen/contraction/kernels/skinny/skinny_shape.h"

namespace tenon::compiler::codegen {

/// `kernel.rows` and the like are set here.
void writeSkinnyProduct(ProductKernel kernel, const SkinnyShape &shape, bool hasTensorCores);

} // namespace tenon::compiler::codegen
