// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a size that is known only when the program runs: rows, such as those of any number of images, or columns
// of a product that is turned around. One tile cannot serve all sizes. Of few rows it would leave most multiprocessors
// without work, of many it would read operands too often. So there is a kernel for each of a few ranges of the size,
// and the program launches the one whose range it is in:
//
//   28 x 28 results, 128 channels     1 image: 64 x 64     up to 8: 64 x 128     more: 128 x 128
#pragma once

#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

namespace tenon::compiler::codegen {

/// The axes of the side that has the only axis of unknown size; none: there is none, or another one.
llvm::ArrayRef<unsigned> unknownSideOf(const GroupShape &shape, const Product &product);

struct SizeRange {
  int64_t rows = 0, columns = 0; // of a tile; 0: warps multiply for themselves
  int64_t images = 0;            // of a patch; 0: it is chosen with its other sides, or there are none
  std::optional<int64_t> most;   // up to so many rows, or columns; none: all that the ranges before do not have
};

/// Ranges of the size of `side`, smallest first, with Hopper's best tile for each. Neighbours may have the same one.
std::vector<SizeRange> sizeRangesOf(const GroupShape &shape, const Product &product, llvm::ArrayRef<unsigned> side);
/// The same of rows that are those of any number of images, without tensor cores.
std::vector<SizeRange> scalarRangesOf(const GroupShape &shape, const Product &product);

} // namespace tenon::compiler::codegen
