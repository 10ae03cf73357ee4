// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile of an operand that is computed from weights of few bits, by a warpgroup that does nothing else. In each step
// a thread has some runs of reduced elements, 16 bytes of packed integers each, and what all of a run have in common, a
// scale and a zero point:
//
//   memory --load--> registers, some steps ahead --put--> f16 or bf16 in shared memory, swizzled (operand_tile.h)
//
// Loads of steps to come are on their way while a step is computed, so that a thread never waits for memory.
#pragma once

#include "compiler/codegen/contraction/operands/operand_tile.h"
#include "compiler/codegen/contraction/operands/run_inputs.h"

namespace tenon::compiler::codegen {

class ComputedTile {
public:
  /// @param threads that compute it
  ComputedTile(const ProductKernel &kernel, TileSpace &space, OperandTile &tile, uint32_t threads);

  /// Whether an operand's tiles of any size can be computed so: f16 or bf16 along the reduced elements, from a byte or
  /// less for each of them.
  static bool fits(const Product &product, const GroupShape &shape, const Operand &operand);
  /// That of the product's sides, where the other one is copied; null: there is none.
  static const Operand *operandOf(const Product &product, const GroupShape &shape);

  /// Whether all runs are whole and aligned.
  mlir::Value isAligned() { return space_.isAligned(operand_, width_); }
  /// Steps whose loads are on their way.
  uint32_t stepsAhead() const;
  /// What a thread computes its runs of a step from.
  llvm::SmallVector<mlir::Value> load(mlir::Value step);
  /// Computes the step from that, into the tile at `arena`.
  void put(mlir::Value arena, mlir::Value step, mlir::ValueRange loaded);

private:
  struct Run {
    mlir::Value row, inRow; // of the tile
  };
  Run run(uint32_t number);
  TileSpace::Begun place(const Run &run, mlir::Value step);
  uint32_t runs() const { return tile_.side() * kernel_.depth / (width_ * threads_); }

  const ProductKernel &kernel_;
  KernelBuilder &k_;
  TileSpace &space_;
  OperandTile &tile_;
  const Operand &operand_;
  const uint32_t threads_, width_; // elements of a run
  RunInputs inputs_;
};

} // namespace tenon::compiler::codegen
