// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels share whose warps multiply for themselves (tensor_core_product, double_product): operands in stages of
// shared memory, the part of the tile that a warp computes, and how its sums become results. A warp's sums are
// fragments of 16 rows and 8 columns, [fragment down][fragment across][4]; ../../kernel/tensor_core.h says which of
// them a lane has.
#pragma once

#include "compiler/codegen/contraction/operands/operand_tile.h"

namespace tenon::compiler::codegen {

class TileOfWarps {
public:
  static constexpr uint32_t kFragmentRows = 16, kFragmentColumns = 8;

  /// @param element, right as of TensorCore
  /// @param stages steps whose operands are in shared memory at once
  TileOfWarps(const ProductKernel &kernel, mlir::Type element, mlir::Type right, uint32_t stages);

  /// Takes the shared memory, before anything else.
  void begin();
  uint32_t rows() const { return warpRows_; }
  uint32_t columns() const { return warpColumns_; }
  size_t sumCount() const { return size_t(warpRows_) * warpColumns_ / 32; }
  mlir::Value lane() const { return lane_; }
  /// Of the warp, in the tile.
  mlir::Value firstRow() const { return firstRow_; }
  mlir::Value firstColumn() const { return firstColumn_; }
  /// Steps of the tile.
  mlir::Value steps();
  /// Where a step's operands are.
  mlir::Value leftAt(mlir::Value step);
  mlir::Value rightAt(mlir::Value step);
  /// Brings a step's operands, where there are so many steps; a group of copies in any case. `isFast`: in vectors.
  void bring(mlir::Value step, mlir::Value steps, bool isFast);
  /// The same of a step that is there and whole.
  void bringWhole(mlir::Value step, bool isFast);
  /// The same in vectors, without a branch: steps behind the last one are zeros. Where mayBringWithout().
  void bringWithout(mlir::Value step, mlir::Value steps);
  bool mayBringWithout(uint16_t target) const;
  /// Whether all operands can be brought in vectors.
  mlir::Value isAligned();
  /// Stores the results of the block. No copy is on its way.
  void writeSums(llvm::ArrayRef<mlir::Value> sums);
  /// The same of a tile that several blocks have (divided_sums.h), each some of its rows.
  void addAndWrite(llvm::ArrayRef<mlir::Value> sums);

private:
  uint32_t stageBytes() const { return left.bytes() + right.bytes(); }
  uint32_t partRows() const;
  uint32_t partFragments() const;

  const ProductKernel &kernel_;
  KernelBuilder &k_;

public:
  TileSpace space;
  TensorCore core;
  OperandTile left, right;

private:
  const uint32_t stages_, warpsDown_, warpsAcross_, warpRows_, warpColumns_;
  mlir::Value arena_, lane_, firstRow_, firstColumn_, down_;
};

} // namespace tenon::compiler::codegen
