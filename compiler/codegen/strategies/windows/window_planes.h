// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images whose channels come first, as whole planes. Rows of 7 or 14 elements begin at no multiple of a vector, but the
// planes of neighbouring channels are one run of memory: a block copies a run of them to shared memory in vectors of 16
// bytes, and results leave in the same way. A thread has some lines of a plane, and of these whole rows where registers
// hold them: which of their elements are outside of the image is known when the kernel is compiled.
#pragma once

#include "compiler/codegen/strategies/windows/window_rows.h"

namespace tenon::compiler::codegen {

/// Lines and columns of results that a thread has, and threads of a block.
struct PlaneTile {
  int64_t lines = 1, columns = 1;
  uint32_t threads = 64;
};

/// A sum over windows that slide over planes of an image, and what is computed of each of its results.
struct PlaneForm {
  ImageRows rows;
  Slide slide; // down the lines
  RowSum sum;
  const KernelOp *stored = nullptr;                                 // whose result leaves the kernel
  unsigned output = 0;                                              // of it
  int64_t imageLines = 0, imageColumns = 0, lines = 0, columns = 0; // of a plane of the image, of one of the results
  int64_t imageBytes = 0, resultBytes = 0;                          // of an element
  // What all places of a plane read: filters, one for each place of the window, and a bias.
  struct Other {
    const KernelOp *op;
    const KernelTensor *tensor;
    int64_t places;
    int64_t bytes; // of an element
  };
  llvm::SmallVector<Other> others;

  /// Nothing where the kernel is none, or reads something else than the image for each place of a result.
  static std::optional<PlaneForm> of(const KernelFunction &kernel, const GroupShape &shape);

  int64_t imagePlane() const { return imageLines * imageColumns * imageBytes; }
  int64_t resultPlane() const { return lines * columns * resultBytes; }
  /// Bytes that a thread reads and writes at once: rows, and what it has of one, are a multiple of them.
  int64_t imageVector(const PlaneTile &tile) const;
  int64_t resultVector(const PlaneTile &tile) const;
  /// Tiles along a plane's columns and along its lines, of which the last may begin in the one before.
  int64_t across(const PlaneTile &tile) const { return columns / tile.columns; }
  int64_t down(const PlaneTile &tile) const { return int64_t(llvm::divideCeil(lines, tile.lines)); }
  /// Planes of a block.
  int64_t planes(const PlaneTile &tile) const { return int64_t(tile.threads) / (across(tile) * down(tile)); }
  /// Of a block: planes of the image, those of the results, and what is read for each of them, one tensor behind the
  /// other.
  int64_t othersBytes(const PlaneTile &tile, const Other &other) const;
  int64_t sharedBytes(const PlaneTile &tile) const;
  /// Of a thread: sums of the lines that a row of the image reaches, the row, and the filters.
  int64_t registers(const PlaneTile &tile) const;
  /// Whether a block begins at vectors of 16 bytes, and has shared memory and registers.
  bool fits(const PlaneTile &tile) const;
};

/// The tile of so many planes that is done first; nothing where none fits.
std::optional<PlaneTile> tileOfPlanes(const PlaneForm &form, int64_t planes);
/// Whether rows as they lie (window_rows.h) are slower: windows overlap, and a thread has registers for the sums of
/// whole rows. Of wider rows, and of larger windows in them, nothing was won.
bool isWorthPlanes(const PlaneForm &form);

} // namespace tenon::compiler::codegen
