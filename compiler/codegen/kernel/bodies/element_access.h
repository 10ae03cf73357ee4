// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where elements lie: from the number of an element of the result to the value of every loop, and from there to an
// address in every tensor. All of it is 64-bit arithmetic; the back end narrows divisions whose operands are small.
//
// Parallel loops are ordered as the first result's dimensions. Adjacent loops that every tensor indexes by adjacent
// dimensions (or not at all) form one axis: x[i][j] + y[i][j] has the one axis (i, j), x[i][j] + y[j] has two.
#pragma once

#include "compiler/codegen/kernel/kernel_function.h"

#include "mlir/IR/Builders.h"

namespace tenon::compiler::codegen {

/// Where a thread stands: a position along every axis, and the value of every reduction loop it is inside of.
struct LoopIndices {
  llvm::SmallVector<mlir::Value> axes;       // [axes]
  llvm::SmallVector<mlir::Value> reductions; // [loops of the operation], set where the loop is a reduction

  void setLoop(unsigned loop, mlir::Value value) { reductions[loop] = value; }
};

class ElementAccess {
public:
  /// @param pointers [n] one per binding
  /// @param sizes the i64 in the kernel for each value of the kernel function that is an extent
  ElementAccess(const KernelFunction &kernel, mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange pointers,
                const llvm::DenseMap<mlir::Value, mlir::Value> &sizes);

  mlir::Value elementCount();
  bool isOneAxis() const { return axes_.size() == 1; }
  /// Length of the innermost axis.
  mlir::Value rowLength() const { return axes_.back().size; }
  mlir::Value loopSize(unsigned loop) const { return loopSizes_[loop]; }

  /// Position of element number `element`, row-major over the axes.
  LoopIndices delinearize(mlir::Value element);
  /// The position `lane` steps along the innermost axis.
  LoopIndices advance(const LoopIndices &indices, unsigned lane);
  /// Value of one loop.
  mlir::Value loopIndex(const LoopIndices &indices, unsigned loop);

  /// Whether steps along the innermost axis are steps of one element in memory.
  bool isAdjacent(const KernelTensor &tensor) const;
  /// Whether the base address of the tensor is a multiple of `bytes`, a power of two.
  mlir::Value isAligned(const KernelTensor &tensor, uint32_t bytes);

  mlir::Value load(const KernelTensor &tensor, const LoopIndices &indices);
  void store(const KernelTensor &tensor, const LoopIndices &indices, mlir::Value value);
  /// `count` elements along the innermost axis: one access where they are adjacent (its base is aligned to the access),
  /// one load for all where they are the same, else one access each.
  llvm::SmallVector<mlir::Value> loadAdjacent(const KernelTensor &tensor, const LoopIndices &indices, unsigned count);
  void storeAdjacent(const KernelTensor &tensor, const LoopIndices &indices, mlir::ValueRange values);

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value lessOrEqual(mlir::Value a, mlir::Value b);
  mlir::Value isZero(mlir::Value a);
  mlir::Value undefined(mlir::Type element);

private:
  struct Axis {
    llvm::SmallVector<unsigned> loops; // outermost first
    mlir::Value size;
  };

  mlir::Value sizeOf(const Extent &extent);
  void formAxes();
  bool indexedTogether(unsigned outer, unsigned inner) const;
  mlir::Value address(const KernelTensor &tensor, const LoopIndices &indices);
  mlir::Value position(mlir::AffineExpr expr, const LoopIndices &indices);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);

  const KernelFunction &kernel_;
  mlir::OpBuilder &b_;
  mlir::Location loc_;
  mlir::ValueRange pointers_;
  llvm::DenseMap<mlir::Value, mlir::Value> sizes_;
  llvm::SmallVector<mlir::Value> loopSizes_; // [loops]
  llvm::SmallVector<Axis> axes_;
};

} // namespace tenon::compiler::codegen
