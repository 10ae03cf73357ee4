// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is decided of a skinny product (skinny_product.h), and what follows from that: places of a block, memory, steps.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

namespace skinny {
constexpr uint32_t kWarp = 32, kGroups = 8, kLanesOfGroup = 4;
constexpr uint32_t kBytesOfLane = 16; // of a position, in each step
constexpr uint32_t kFragment = 8;     // of the few, in one instruction
// Elements behind each row of what warps have summed: lanes of a warp meet different banks.
constexpr uint32_t kPadding = 4;
// Where blocks go from tile to tile: bytes of a copy; stages, of a round each; tiles whose sums are in shared memory:
// one is summed up while the next one's warps leave theirs.
constexpr uint32_t kRingCopied = 16, kRingStages = 2, kRingTilesOfSums = 2;
} // namespace skinny

/// How a skinny product is computed.
struct SkinnyShape {
  bool fewAreRows;     // else columns
  uint32_t few;        // of a block, a multiple of 8
  uint32_t positions;  // of the wide side, of a lane: 2, 4 or 8
  uint32_t depthWarps; // warps that divide the reduced elements
  uint32_t turns = 0;  // steps of a warp that lie beside each other and are on their way together; 0: one by one
  bool isRing = false; // blocks go from tile to tile (skinny_ring.cpp)
  bool hasRounds() const { return turns != 0 && !isRing; } // skinny_rounds.cpp
};

/// Bytes of shared memory that what one of the warps' parts has summed takes, of sums of so many bytes; at most
/// kMostSkinnyBytes of them there are.
uint32_t skinnyPartBytes(const SkinnyShape &shape, uint32_t threads, uint32_t sumBytes);
inline constexpr uint32_t kMostSkinnyBytes = 40 << 10;
/// Whether rows of the wide side are known not to be vectors: elements come one by one.
bool areReadSingly(const Product &product, const GroupShape &shape, const Operand &wide);
/// Positions of the wide side that a block of so many threads takes.
uint32_t widePerBlock(const SkinnyShape &shape, uint32_t threads);
/// Reduced elements of a step on tensor cores: a lane has 16 bytes of them, or, where they are computed, of what they
/// are computed from.
uint32_t skinnyDepth(const Product &product, const GroupShape &shape, const Operand &wide);
/// Whether blocks may go from tile to tile, each lane with packed integers of several steps on their way: where they
/// are computed from on tensor cores, of known sizes, in whole steps and at least one for each warp.
bool mayUseRing(const Product &product, const GroupShape &shape, const SkinnyShape &how);
/// Whether what all of a run share of an input, a scale, lies beside what the run of the next step has of it, and what
/// the steps of a round have is one vector.
bool isBesideNext(const Product &product, const GroupShape &shape, const SkinnyShape &how, const OperandInput &input);
/// Steps of packed integers that a warp does one after the other, unrolled; more than those in a loop.
inline constexpr uint32_t kMostStepsInTurn = 8;
/// What a tile's warps have summed then.
uint32_t ringPartBytes(const SkinnyShape &shape, uint32_t threads, mlir::Type sum);
/// The launch's shared memory of such a kernel.
uint32_t skinnyRingBytes(const Product &product, const GroupShape &shape, const SkinnyShape &how, uint32_t threads);

} // namespace tenon::compiler::codegen
