// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices whose rows, columns, batch or reduced elements only the program knows. It has a few kernels, of
// unlike tiles, whole ones or those whose sums a cluster takes apart, and compares sizes to choose one:
//
//   one size    that size: what each kernel takes for it is known, as of known sizes
//   several     the number of tiles; where it is unknown how long sums are, these are only taken apart where they are
//               long, and a kernel of whole tiles is for the others
//
// f16, ? x 4576 x 3672: up to 64 rows 64 x 128 by 3 blocks, 128 rows by 1 block of 128 x 64, ...
#pragma once

#include "compiler/codegen/contraction/tile_space.h"
#include "compiler/codegen/plan/few_kernels.h"
#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

namespace tenon::compiler::codegen {

struct SizedKernel {
  int64_t rows = 0, columns = 0; // of a tile
  int64_t deep = 1;              // blocks of a cluster that take its sums apart
  llvm::SmallVector<Guard> guards = {};
  int64_t least = 1; // rows, or columns, of which it is not known how many there are
};

/// What multiplies on Hopper, for all sizes. None: they are known, or the product is no plain one of matrices.
/// @param product as warpgroups read it, where they multiply it
/// @param starts of rows, where these sizes are
std::vector<SizedKernel> kernelsOfUnknownSizes(const GroupShape &shape, const Product &product,
                                               RowStarts starts = RowStarts::Any);

} // namespace tenon::compiler::codegen
