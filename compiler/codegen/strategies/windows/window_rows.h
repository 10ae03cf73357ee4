// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of an image whose channels come first: windows slide along what lies side by side in memory, so the lanes of a
// thread, neighbouring results, read elements that lie across vectors. A thread reads all that its lanes meet of a row
// once, in pieces, and hands each lane its own: aligned words of four bytes, and vectors of up to 16 where they fit.
//
//   eight lanes of 16 bits, windows of three:   .x|xxxxxxxx|x.   a word, a vector, a word
#pragma once

#include "compiler/codegen/strategies/windows/window_tiles.h"

namespace tenon::compiler::codegen {

/// How a dimension of an image slides along an axis of the results, by a loop of the window and nothing else.
struct Slide {
  int64_t step = 1, length = 1, apart = 1, offset = 0; // the offset is that of the first place that a window meets
  bool isBackwards = false;                            // the window's first place is its last element
  int64_t results = 0;                                 // along the axis
  unsigned axis = 0;                                   // of the space: the window's along that

  static std::optional<Slide> of(const GroupShape &shape, mlir::linalg::GenericOp op, mlir::AffineMap map,
                                 unsigned dimension, unsigned along);
  /// Places that so many results meet.
  int64_t met(int64_t count) const { return (count - 1) * step + (length - 1) * apart + 1; }
};

/// Along the last axis of the results.
struct ImageRows : Slide {
  const KernelOp *op = nullptr;
  mlir::Value border;             // of the body: an element of the image, or 0; null: the body's argument is one
  KernelTensor image;             // by the map that leads to places outside of it, too
  llvm::SmallVector<bool> leaves; // [rank] whether a dimension has such places

  /// Nothing where the kernel has no such image, or several.
  static std::optional<ImageRows> of(const KernelFunction &kernel, const GroupShape &shape);
  /// Lanes that are read in words: a power of two, up to 16 bytes, as rows of results and of the image are a multiple
  /// of them.
  uint32_t lanes(const GroupShape &shape) const;
  /// What is read at once, from the first lane's place on: a power of two, at a multiple of itself.
  struct Piece {
    int64_t first, elements;
  };
  llvm::SmallVector<Piece> pieces(uint32_t lanes) const;
  /// At whose multiples the image has to begin then.
  int64_t alignment(uint32_t lanes) const;
  /// What so many lanes meet of the row of a point, which is at the first place of its window's row.
  llvm::SmallVector<mlir::Value> read(KernelBuilder &k, GroupSpace &space, const Bodies &bodies, const Point &point,
                                      uint32_t lanes) const;
  /// Of the elements that so many lanes meet of a row (met()), what each has at a place of the window.
  llvm::SmallVector<mlir::Value> at(llvm::ArrayRef<mlir::Value> row, int64_t place, uint32_t lanes) const;
};

/// Whether windows of such a kernel slide down columns of results: a thread reads each row of a column's windows once.
/// @param sums of the kernel
bool slidesDownColumns(const KernelFunction &kernel, const GroupShape &shape, size_t sums);
/// The tile of such a kernel: results of a column, and lanes; nothing where none keeps a large device busy.
std::optional<WindowTile> tileOfRows(const KernelFunction &kernel, const GroupShape &shape, size_t sums);

} // namespace tenon::compiler::codegen
