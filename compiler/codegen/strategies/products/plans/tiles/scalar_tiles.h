// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tiles of a contraction that threads multiply, or warps for themselves, and how long a device takes with each:
// what a tile was measured to take alone on its multiprocessor and beside others. Hopper's own are in
// contraction_tiles.h.
#pragma once

#include "compiler/codegen/contraction/kernels/scalar_product.h"
#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

namespace tenon::compiler::codegen {

// Of large tiles that no tensor core multiplies: each thread has twice as many elements, and reads fewer for each. Also
// of all tiles of f64, whose warps would meet in shared memory otherwise.
inline constexpr uint32_t kFewProductThreads = 128;
// A tile without tensor cores, and how long it takes for 4096 reduced elements (f32 on an H200, microseconds): alone on
// its multiprocessor, or its share where `resident` tiles are computed there at once. Tensor cores of single warps have
// the same tiles. Of f64 times are those of tensor cores, and other sums of eight bytes have the registers of a small
// tile only. `threads`: fewer than such a tile has elsewhere, each with more of it, of exact f32 whose sizes are
// known; 0: as many. They read less of shared memory for each product, and need more tiles to keep a multiprocessor
// busy.
struct ScalarTile {
  int64_t rows, columns, resident;
  double shared, alone;
  uint32_t threads = 0;
};
llvm::ArrayRef<ScalarTile> scalarTiles(const Product &product);
/// More of them, of fewer threads, for products of known sizes.
llvm::ArrayRef<ScalarTile> tilesOfFewThreads(const Product &product);
/// What each of so many tiles of a multiprocessor takes there, in the same units.
double timeOfTile(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t each);
/// What a device takes for a product in such tiles, in the units of their times. Of known sizes.
double timeOf(const GroupShape &shape, const Product &product, const ScalarTile &tile);
/// Narrow tiles take longer for each element: they are for products that have no more rows, or columns.
bool isForSize(const GroupShape &shape, const Product &product, const ScalarTile &tile);
/// Of short sums few threads are slower: they begin and end later (tt 1606 x 365 x 131: 17.9 us of 64 x 64, else 15.4).
bool isTooShort(const GroupShape &shape, const Product &product, const ScalarTile &tile, int64_t deep);
const ScalarTile &bestScalarTile(const GroupShape &shape, const Product &product);

} // namespace tenon::compiler::codegen
