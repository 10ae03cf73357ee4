// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From accumulators of `wgmma` to a result of 16-bit elements: each thread computes the rest of the group where its
// sums are, two columns at a time, and the warp exchanges pairs through shared memory (`stmatrix`), so that each lane
// stores 16 bytes. Warps go on without each other. It is for groups that read no other matrix, whose elements would be
// read pair by pair; result_tile.h takes all others.
//
// A result whose rows lie side by side in memory, as where the product's sides are exchanged, is *turned* on its way
// (`stmatrix` with `.trans`); then the warps of a consumer have a part of 64 x 64 together, of which each stores 16
// columns.
#pragma once

#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

class NarrowResult {
public:
  /// Nothing where the group is not of this kind.
  static std::optional<NarrowResult> of(const ProductKernel &kernel);
  bool isTurned() const { return isTurned_; }

  static constexpr uint32_t kRows = 64, kColumns = 64;
  /// Shared memory of a warpgroup.
  static constexpr uint32_t bytes() { return 2 * kRows * kColumns * 2; }
  /// The result as boxes that a warp writes at once, where it is of this kind and of such boxes.
  static std::optional<TileMap> mapOf(const KernelFunction &kernel, const GroupShape &shape, const Product &product);
  /// Whether the result and what is read for it are aligned.
  mlir::Value isAligned();
  /// Ahead of the sums, what lies along the columns of such a part of a tile, a bias or a scale: a word for two columns
  /// of each eight and each such tensor, of the first columns, as many as registers are left for. A cache that tiles'
  /// operands pass through answers late, and results would wait for each of these loads. Nothing is read where not
  /// `isNarrow`, as isAligned() says.
  llvm::SmallVector<mlir::Value> load(TileSpace &space, mlir::Value firstColumn, uint32_t columns,
                                      mlir::Value isNarrow);
  /// 64 rows of a tile that begin at a row and a column of it, from a warpgroup's sums: [8 columns][row l / 4 of the
  /// warp's 16, and the eighth behind it][2 columns]. `loaded`: what load() has of the part's columns. A team of 128
  /// threads; `arena` is aligned to 128, to 1024 where there is a tensor map: boxes are on their way then until
  /// finish().
  void write(TileSpace &space, mlir::Value firstRow, mlir::Value firstColumn, mlir::Value arena,
             llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<mlir::Value> loaded, mlir::Value tensorMap = {});
  /// The memory of boxes has been read. All threads that have written some.
  void finish();

private:
  // Of a group's operation, which has two elements of it in a word.
  struct AlongColumns {
    const KernelOp *op;
    const KernelTensor *tensor;
  };

  NarrowResult(const ProductKernel &kernel, const KernelOp &op, unsigned output, bool isTurned);
  const KernelTensor &tensor() const { return op_->outputs[output_].tensor; }
  /// Of the space: neighbours along it are neighbours in the result's memory.
  unsigned adjacentAxis() const;
  void writeTurned(TileSpace &space, mlir::Value firstRow, mlir::Value firstColumn, mlir::Value arena,
                   llvm::ArrayRef<mlir::Value> sums, mlir::Value tensorMap);
  mlir::Value value(TileSpace &space, mlir::Value row, mlir::Value column, mlir::Value total);
  /// The results of two sums at a position, 32 bits.
  mlir::Value pair(TileSpace &space, mlir::Value row, mlir::Value column, llvm::ArrayRef<mlir::Value> sums,
                   llvm::ArrayRef<mlir::Value> loaded);
  uint32_t eighthsOf(uint32_t columns) const;
  mlir::Value columnOfLane();
  void store(TileSpace &space, mlir::Value from, mlir::Value row, mlir::Value column);
  void storeBox(TileSpace &space, mlir::Value tensorMap, mlir::Value from, mlir::Value row, mlir::Value column);
  void waitForBoxes(unsigned pending);

  const ProductKernel *kernel_;
  const KernelOp *op_; // that stores it
  unsigned output_;    // of the operation
  bool isTurned_;      // neighbours in memory are results of neighbouring rows
  llvm::SmallVector<AlongColumns> alongColumns_;
};

} // namespace tenon::compiler::codegen
