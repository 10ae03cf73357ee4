// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tiles of both operands of a product that threads multiply: elements of two steps in shared memory, one that is
// multiplied and the next one, which threads bring in registers beside it.
//
//   fetch(step + 1)   memory -> registers
//   load(step)        shared memory -> factors of a product
//   put(step + 1)     registers -> shared memory, [reduced element][row or column]
#pragma once

#include "compiler/codegen/contraction/kernels/window_vectors.h"

namespace tenon::compiler::codegen {

/// Large tiles of which both sides lie along the reduced elements, of known sizes.
bool isLargeAlong(const ProductKernel &kernel);

class ScalarOperands {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using Widths = llvm::SmallVector<uint32_t, 2>; // of vectors of the left and of the right operand

  // Rows or columns beside each other that a thread multiplies.
  static constexpr uint32_t kGroup = 4;

  /// @param kernel whose `depth` is known. Both outlive it.
  ScalarOperands(const ProductKernel &kernel, TileSpace &space);

  /// Of shared memory, in the type in which they are multiplied.
  uint32_t elements() const { return 2 * ofStep(); }
  mlir::Type stored() const { return stored_; }
  void place(mlir::Value arena) { arena_ = arena; }

  /// As wide as each thread has one at least.
  Widths widestVectors() const;
  /// Whether the widest vectors are aligned wherever the operands begin at a multiple of 16 bytes: buffers do, unless
  /// who calls the program gives it a part of one.
  bool areAligned(const Widths &widths) const;
  mlir::Value isAligned(const Widths &widths);
  /// Elements that a thread brings of a step.
  uint32_t fetched(const Widths &widths) const;

  /// Before the first fetch() of such vectors.
  void findWindows(const Widths &widths);
  /// What the thread brings of a step.
  /// @param mayEnd whether the step may have fewer reduced elements than others
  Values fetch(mlir::Value step, const Widths &widths, bool mayEnd = true);
  /// @param half of the two steps in shared memory
  void put(const Values &values, mlir::Value half, const Widths &widths);
  /// Elements of a reduced one: kGroup rows, or columns, from kGroup * `thread` + `first` on.
  /// @param isFirst whether it is the first reduced element of a step
  Values load(unsigned side, mlir::Value half, mlir::Value depth, bool isFirst, mlir::Value thread, uint32_t first);

private:
  /// The tile of an operand: elements of a step, [depth][side].
  struct Buffer {
    const Operand *operand;
    uint32_t side;
    mlir::Value first; // row or column of the tensor
    uint32_t begin;    // elements behind the arena's, in each of two halves
    uint32_t stride() const;
    uint32_t depth;
    uint32_t elements() const { return depth * stride(); }
  };

  uint32_t ofStep() const { return buffers_[0].elements() + buffers_[1].elements(); }
  uint32_t widthOf(const Operand &operand) const;
  uint32_t countOf(const Buffer &buffer, uint32_t width) const;
  std::pair<mlir::Value, mlir::Value> positionOf(const Buffer &buffer, uint32_t width, uint32_t number);
  bool isWholeInBorder(const Operand &operand, uint32_t width) const;
  mlir::Value slot(const Buffer &buffer, mlir::Value half, mlir::Value depth, mlir::Value across);

  const ProductKernel &kernel_;
  KernelBuilder &k_;
  TileSpace &space_;
  const mlir::Type type_, stored_;
  const uint32_t bytes_;
  llvm::SmallVector<Buffer, 2> buffers_;
  llvm::SmallVector<std::optional<WindowVectors>, 2> windows_; // of each buffer
  mlir::Value arena_;
};

} // namespace tenon::compiler::codegen
