// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan of one kernel of a contraction whose tile is said: on how many threads and blocks, with which shared memory
// and tensor maps, and which tile of Hopper's beside it.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"
#include "compiler/codegen/plan/plan.h"
#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kProductThreads = 256;

// A choice of plans of an unknown number of images: a patch's side along them.
inline constexpr llvm::StringLiteral kImagesOfPatch = "images";

// A choice of plans of an unknown number of rows, or columns: so many at least.
inline constexpr llvm::StringLiteral kLeast = "least";
/// A choice of plans of unknown sizes: RowStarts where the kernel runs. None: any.
inline constexpr llvm::StringLiteral kRowStarts = "row_starts";
/// A choice of plans of known sizes: 1, rows of a tile are columns of the result (tiles/round_tiles.h).
inline constexpr llvm::StringLiteral kExchanged = "exchanged";

/// What is said of a Hopper's tile: its size, or none, so that warps multiply for themselves.
struct GivenWarpgroups {
  std::optional<WarpgroupTile> tile;
  uint32_t cluster = 1;
  int64_t parts = 1;        // of the tiles of the last round
  int64_t deep = 1;         // blocks of a cluster that take the sums of a tile apart
  bool isInTurn = false;    // consumers have whole tiles (turns.h)
  bool isExchanged = false; // rows of the tile are columns of the result
  RowStarts starts = RowStarts::Any;
};

/// As warpgroups multiply it.
Product asMultiplied(const Product &asGiven, bool isExchanged);

/// A kernel with tiles of so many rows and columns where no warpgroup multiplies.
/// @param given nothing: what is best
Plan planOf(llvm::StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Product &asGiven,
            int64_t side, int64_t columns, const std::optional<GivenWarpgroups> &given = {});

/// Of such a plan, a cluster of blocks for each tile.
Plan inClusters(Plan plan, int64_t deep);

} // namespace tenon::compiler::codegen
