// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who computes which part of which tile. Blocks take whole tiles, round by round. The last round may leave many of them
// without a tile; then the sums of its tiles are taken apart, and more blocks have something to do ("stream-K"):
//
//   blocks            | 0  1  2  3  4  5 |
//   round             | a  b  c  d  e  f |   whole tiles
//   last round        | g0 h0 g1 h1 g2 h2|   two tiles, in three parts each
//
// All parts of a tile but the last leave what they have summed in memory (a *share*). Who computes the last one adds
// the shares to its own, in the order of the parts, and computes the results. So sums do not depend on who was first,
// nor, since what is taken apart is decided with the plan, on how many blocks a device runs at once.
//
// Parts that follow each other are of different tiles and the same reduced elements: blocks that run at once read the
// same rows of operands. (Ranges of steps that are as long for every block, which begin anywhere in a tile, were tried:
// each row is read from memory several times then, and steps take 20 % longer.)
//
// Nobody waits for a block that waits for it. What blocks do are *items* with numbers, and a block does those that it
// takes in the order of their numbers. The last part of a tile waits for its other parts, whose numbers are lower. All
// parts together are no more than one round has blocks, so that those are parts of blocks with lower numbers, too.
// Blocks take their numbers from a ticket when they begin, so that those have begun.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

/// Warpgroups that multiply a tile, each of which leaves its own sums.
inline constexpr uint32_t kConsumers = 2;
/// Of a warpgroup: the rows that one of its instructions multiplies, and its threads.
inline constexpr uint32_t kGroupRows = 64, kGroupThreads = 128;
/// Words in front of the flags by which parts say that their sums are there: a ticket, which blocks have their numbers
/// from.
inline constexpr uint32_t kTickets = 1;

class SharedTiles {
public:
  /// @param tiles, steps of the product, and of each tile (i64)
  /// @param inRound blocks of a round, @param parts of the tiles of the last one
  SharedTiles(KernelBuilder &k, mlir::Value tiles, mlir::Value steps, uint32_t inRound, uint32_t parts);

  /// Some steps of a tile.
  struct Item {
    mlir::Value tile;
    mlir::Value begin, count;
    mlir::Value isLeft; // the sum is left for the tile's last part
    mlir::Value share;  // number of the share that is left; of a last part, that of its tile's first
    mlir::Value shares; // that it adds to its own: the first, and those `tiles()` further on each
  };
  mlir::Value items();
  Item item(mlir::Value number);
  /// That are taken apart.
  mlir::Value tiles() const { return shared_; }

private:
  KernelBuilder &k_;
  mlir::Value steps_, parts_;
  mlir::Value whole_, shared_; // tiles that are whole, the first ones, and the others
};

} // namespace tenon::compiler::codegen
