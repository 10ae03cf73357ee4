// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a transpose turns, and how much of it a block takes.
#pragma once

#include "compiler/codegen/plan/strategy.h"
#include "compiler/dispatch/analysis/kernel_config.h"

namespace tenon::compiler::codegen {

/// A tensor that goes through shared memory, as one of the operations reads it.
struct StagedTensor {
  const KernelOp *op;
  const KernelTensor *tensor;
  uint32_t bytes() const { return dispatch::elementBytes(tensor->element); }
};

/// What is turned: the axis along which results are adjacent, the one along which these tensors are.
struct Turn {
  unsigned written, read;
  llvm::SmallVector<StagedTensor> tensors;
};

/// How much of both axes a block takes, powers of two.
struct TransposeTile {
  uint32_t written, read, threads;
};

/// The tensors that are apart along the last axis and adjacent along another one: the one that has most bytes of them.
std::optional<Turn> turnOf(const KernelFunction &kernel, const GroupShape &shape);

/// A tile, and for how many elements of the group it is.
struct SizedTile {
  TransposeTile tile;
  int64_t least; // elements
};

/// A square of as much as fits; of a short axis all, and more of the other one. Where that makes fewer tiles than keep
/// a GPU busy, smaller ones: where it is not known how many, each of these is one of the tiles, the largest first.
/// Nothing where axes are too short for tiles.
llvm::SmallVector<SizedTile> tilesOf(const Turn &turn, const GroupShape &shape);

/// How long an axis is whose length is not known: too short for tiles, short, so that tiles are as long as they may be
/// along the other one, or longer. Each has kernels of its own.
constexpr int64_t kShortestSide = 8, kShortSide = 16;
/// Where one is short, the other one may be so, too: no more than so many.
constexpr int64_t kMiddleSide = 128;
/// The tiles of turns along a short axis: all of it, and of the other one as much as is worth it, or as it has.
TransposeTile tileOfShortWritten(const Turn &turn, bool isOtherShort = false);
TransposeTile tileOfShortRead(const Turn &turn, bool isOtherShort = false);

/// Elements of a vector in shared memory: 16 bytes, 8 where that gives more threads a square to turn.
uint32_t vectorOf(const TransposeTile &tile, uint32_t bytes);

/// Elements of a word of 4 bytes, at least one.
uint32_t lanesOfWord(uint32_t bytes);

/// Elements of a row that a thread takes of rows that start anywhere: it has 32 registers for them.
uint32_t lanesOfShifted(uint32_t vector, uint32_t bytes);

} // namespace tenon::compiler::codegen
