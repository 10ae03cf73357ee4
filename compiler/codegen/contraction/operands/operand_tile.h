// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile of an operand in shared memory, as tensor cores read it: elements in chunks of 16 bytes, which lie in rows
// of 64 or 128 bytes. 16-bit elements that are adjacent in memory stay so:
//
//   along the reduced elements: a row for each position across, depth elements long
//   across:                     a row of 64 positions for each reduced element, or of 32; blocks of so many positions
//
// Elements of 8 or 32 bits lie along the reduced elements: tensor cores turn only those of 16 bits. What is
// adjacent across in memory is put there one by one. But for tf32 that warpgroups read into registers
// (Product::isReadAcross), and for tf32 of warps and f64, which are read one by one: they stay as they are, in blocks
// of 128 bytes.
//
// Eight rows at the same chunk would meet the same banks; so the chunk at which one lies is changed by the number of
// its row. It is the order that sm_90's instructions call a swizzle of 64 or 128 bytes. Of f64 sixteen lanes read
// single elements, of four rows and two adjacent chunks: there chunks change by two.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

class OperandTile {
public:
  /// @param isRounded of warpgroups: f32 are tf32 in the tile; else whoever reads them rounds
  /// @param acrossBytes of a row of 16-bit elements that are adjacent across: 128, however few positions there are; or
  /// 64, where the tile has no room for more than a side of 32
  /// @param isReadSingly whoever reads it reads f32 one by one, which then lie as they do in memory
  OperandTile(const ProductKernel &kernel, TileSpace &space, TensorCore &core, const Operand &operand,
              bool isRounded = false, uint32_t acrossBytes = 128, bool isReadSingly = false);

  const Operand &operand() const { return operand_; }
  uint32_t side() const { return side_; }
  uint32_t bytes() const { return side_ * kernel_.depth * elementBytes_; }
  /// Whether rows of the tile are positions across.
  bool liesAlongReduced() const { return operand_.isAlongReduced || (elementBytes_ != 2 && !staysAcross_); }
  /// Whether the fast way can bring it: vectors are whole and aligned.
  mlir::Value isAligned();
  /// Brings the elements of a step to `arena`: fast or one by one. Without a wait only where nothing is copied
  /// asynchronously (`isCopied`).
  void bring(mlir::Value arena, mlir::Value step, bool isFast);
  /// The same of a step that does not end early.
  void bringWhole(mlir::Value arena, mlir::Value step, bool isFast);
  /// The same in vectors without a branch, where they are copied: zeros where the step is not there.
  void bringWhere(mlir::Value isThere, mlir::Value arena, mlir::Value step);
  bool isCopied() const { return liesAsInMemory() && !isRounded_; }
  /// Whether elements are copied so that are brought one by one: copies have 4, 8 or 16 bytes, and of tf32, which have
  /// 4, nobody has measured it.
  bool isCopiedSingly() const { return isCopied() && element_.isF64(); }
  /// Whether rows of the tile are runs of memory, from which each step takes the next piece.
  bool hasRuns() const;
  /// This thread's vectors of a tile's first step: where they lie, and whether their rows exist.
  struct Runs {
    llvm::SmallVector<TileSpace::Source> sources;
  };
  Runs findRuns();
  /// As a fast bring(), from runs that were found before: rows that are looked up are looked up once.
  void bringRuns(mlir::Value arena, mlir::Value step, const Runs &runs);
  /// Values that lie in one chunk, from element `inRow` of a row on.
  void put(mlir::Value arena, mlir::Value row, mlir::Value inRow, llvm::ArrayRef<mlir::Value> values);
  /// The byte behind the tile's first at which a chunk of 16 bytes lies. Along the reduced elements: position across,
  /// chunk of the step; across: reduced element, chunk of the side.
  mlir::Value offsetOf(mlir::Value row, mlir::Value chunk);
  /// 16 positions across, from `first` on, x 16 reduced elements of 16 bits, those of part `part`: four registers of
  /// the warp's lane, as TensorCore::multiply takes them from the left. The tile lies at `arena`.
  llvm::SmallVector<mlir::Value> leftFragment(mlir::Value lane, mlir::Value arena, mlir::Value first, mlir::Value part);
  /// Of a tile along the reduced elements: 16 of these, from `first` on, x 16 positions across, those of part `part`,
  /// as another product takes it whose rows they are.
  llvm::SmallVector<mlir::Value> turnedFragment(mlir::Value lane, mlir::Value arena, mlir::Value first,
                                                mlir::Value part);

private:
  /// Row and chunk of which the lane gives the address, where rows are what the product sums over.
  std::pair<mlir::Value, mlir::Value> turnedPlace(mlir::Value lane, mlir::Value first, mlir::Value part);
  bool liesAsInMemory() const {
    return operand_.isCopied() && operand_.value.getType() == element_ && operand_.isAlongReduced == liesAlongReduced();
  }
  /// `isThere`: null: it is.
  void bringFrom(mlir::Value arena, mlir::Value firstReduced, bool isFast, bool mayEnd, mlir::Value isThere = {});
  /// Whether what is not aligned can be read in runs that begin anywhere (any_runs.h).
  bool mayStraddle() const;
  void bringStraddling(mlir::Value arena, mlir::Value firstReduced, bool mayEnd);
  /// Elements of a row in memory, of a chunk.
  uint32_t rowLength() const { return operand_.isAlongReduced ? kernel_.depth : side_; }
  uint32_t chunk() const { return 16 / elementBytes_; }
  struct Position {
    mlir::Value row, inRow; // of the tile
  };
  /// Vectors of a thread in a tile.
  uint32_t vectors(uint32_t width) const { return side_ * kernel_.depth / (width * k_.threads); }
  llvm::SmallVector<Position> positionsFrom(mlir::Value first, uint32_t width, uint32_t count);
  void forEach(uint32_t width, uint32_t most, llvm::function_ref<void(llvm::ArrayRef<Position>)> body);

  const ProductKernel &kernel_;
  TileSpace &space_;
  TensorCore &core_;
  const Operand &operand_;
  KernelBuilder &k_;
  const mlir::Type element_; // of the tile
  const uint32_t side_, elementBytes_;
  const bool isRounded_, staysAcross_;
  const uint32_t acrossBytes_;
  uint32_t width_; // of a vector that is computed
};

} // namespace tenon::compiler::codegen
