// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vectors that a thread brings of an image in each step of a convolution, where a step is of one place of the
// window. Whether a vector lies inside of the image depends on the place alone, and from place to place all vectors
// move alike. So a thread asks once, and remembers a bit for each place:
//
//   3 x 3, first row of results, first column      inside: 0b110110000
//
// A step then takes a bit and adds one distance to each address, instead of dividing, multiplying and comparing.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

class WindowVectors {
public:
  /// Whether the operand is an image within a border, steps of so many reduced elements are of one place each, and
  /// there are few places.
  static bool areThere(const GroupShape &shape, const Product &product, const Operand &operand, uint32_t depth);
  /// @param first row of the tile
  WindowVectors(const ProductKernel &kernel, TileSpace &space, const Operand &operand, mlir::Value first,
                uint32_t width)
      : kernel_(kernel), k_(kernel.k), space_(space), operand_(operand), first_(first), width_(width) {}

  /// One more vector: of row `across`, from element `reduced` of a step on.
  void add(mlir::Value across, mlir::Value reduced);
  /// In a step, where each vector is, and whether it is there.
  llvm::SmallVector<TileSpace::Source> at(mlir::Value step);

private:
  struct Vector {
    mlir::Value first;  // address at the first place
    mlir::Value inside; // i32
  };
  int64_t channels() const { return *kernel_.shape.axes[kernel_.product.reduced.back()].size; }
  TileSpace::Source source(mlir::Value across, mlir::Value reduced) {
    return space_.sourceWhere(operand_, across, reduced, width_, /*mayEnd=*/false);
  }

  const ProductKernel &kernel_;
  KernelBuilder &k_;
  TileSpace &space_;
  const Operand &operand_;
  mlir::Value first_;
  const uint32_t width_;
  llvm::SmallVector<Vector> vectors_;
};

} // namespace tenon::compiler::codegen
