// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hopper's tiles of a contraction, and a model of how long a device takes with each of them: rounds of blocks, steps of
// each, and what a step was measured to take. Which tile is the best of them is decided here, where nobody says
// otherwise (tuning/tile_choice.h). Tiles of threads and single warps are in scalar_tiles.h.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

inline constexpr int64_t kLargeTile = 128, kSmallTile = 64, kTallTile = 256, kNarrowTile = 32;
// As many tiles keep a large device busy; of fewer elements smaller tiles are made. Tensor cores gain from tiles of 128
// rows with fewer.
inline constexpr int64_t kManyTiles = 128, kEnoughTiles = 96;

/// What multiplies.
enum class Multiplier { Scalar, TensorCore, Warpgroup };

/// The best that a target has.
Multiplier multiplierOf(const abi::TargetArch &target, const Product &product);

/// How many tiles there are, where the sizes are known.
std::optional<int64_t> tilesOf(const GroupShape &shape, const Product &product, int64_t side, int64_t columns);

// A tile of Hopper's, and how long one of its multiprocessors takes for a step of 128 bytes (measured on an H200):
// small ones wait for the second-level cache, large ones for the tensor cores.
struct WarpgroupTile {
  int64_t rows, columns;
  double microseconds;
  double ofPatches = 0; // the same where rows are patches of an image: who asks for their boxes takes longer, and a row
                        // that is read for each place of a window is near
};
llvm::ArrayRef<WarpgroupTile> warpgroupTiles();
/// That of products whose sizes nobody knows.
const WarpgroupTile &warpgroupTileOfUnknownSizes();

/// Hopper's tile of a routed product whose other tiles have so many rows.
const WarpgroupTile &routedWarpgroupTile(const GroupShape &shape, const Product &product, int64_t side);

// Behind the steps of each tile, until the next one's begin.
inline constexpr double kMicrosecondsOfTile = 0.5;

/// Steps of a tile, 1 where the sum's length is unknown.
double stepsOf(const GroupShape &shape, const Product &product);
/// Tiles of Hopper's, as tilesOf(); where its maps need patches, those cover more than the rows. `cluster` of them
/// below each other count as one.
std::optional<int64_t> warpgroupTilesOf(const GroupShape &shape, const Product &product, const WarpgroupTile &tile,
                                        int64_t cluster = 1);
/// What a step takes where so many blocks run at once.
double microsecondsOfStep(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t blocks);
/// What a device takes for a product in such tiles, where its sizes are known.
std::optional<double> microsecondsOf(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);

/// Whether rows of the operand begin anywhere in a sector of the cache.
bool areSectorsSplit(const GroupShape &shape, const Operand &operand);
/// Matrices that lie in memory as they are multiplied, of known sizes.
bool waitsForMatrix(const GroupShape &shape, const Product &product);
/// What it takes to bring a matrix and more than 64 rows to the multiprocessors, from memory and through the
/// second-level cache, where `deep` blocks share the steps of a tile; 0 for other products.
double microsecondsOfReads(const GroupShape &shape, const Product &product, const WarpgroupTile &tile,
                           int64_t deep = 1);
/// microsecondsOf(), and no less than what is read takes.
std::optional<double> microsecondsWithReads(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);

/// The tile with which Hopper is done first. A launch has `launched` blocks; tiles that would need more of them to give
/// every multiprocessor work are left out.
const WarpgroupTile *bestWarpgroupTile(const GroupShape &shape, const Product &product, int64_t launched);

// Blocks that share what they read of the right operand: each brings a part of it to both. Their tiles lie below each
// other. Measured on an H200: a launch of pairs takes 0.5 to 1 us more. What they read is half as much, which is worth
// 30 % where rows are no multiples of a line of the cache, so that a row of a box meets two of them, and 1 % where many
// rounds of tiles follow each other; else the second-level cache is fast enough.
// Where rows of the right operand begin inside of a sector, short products gain, too.
inline constexpr uint32_t kPair = 2;
// Of few rows, which one tile has all of, the blocks' tiles lie side by side, and what they share is the left operand,
// which all blocks read. Measured on an H200: of 64 rows and 28672 columns, four blocks with tiles of 128 columns
// take 5 to 7 % less than blocks alone with tiles of 256. Of up to 32 rows, and with tiles of 64 columns, which are
// worth it where all of them run at once, blocks are faster alone (an H100: f8 7 %, bf16 1 to 3 %).
inline constexpr uint32_t kQuad = 4;
/// Whether a tile has all rows.
bool isSideBySide(const GroupShape &shape, const Product &product, int64_t rows);
/// How many blocks share the left operand of such tiles.
uint32_t bestClusterAcross(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);
/// Whether some tiles lie below each other.
bool hasPairs(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);
/// Whether pairs are done earlier than blocks that run alone.
bool isPairWorthwhile(const GroupShape &shape, const Product &product, const WarpgroupTile &tile);

} // namespace tenon::compiler::codegen
