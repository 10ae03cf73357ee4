// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block of a kernel of bands (band_sums.h): which numbers its threads have, and what they compute, however rows come
// and results leave: the bands of filters in registers, products with them, and sums that are computed again.
#pragma once

#include "compiler/codegen/grouped/bands/band_rows.h"

namespace tenon::compiler::codegen {

struct BandBlock : BandNumbers {
  using Period = BandRows::Period;
  static constexpr size_t kSums = 4; // of a lane, of a product
  /// Of pairs of lines, by age: of pairs of channels, four each.
  using Sums = llvm::SmallVector<llvm::SmallVector<Values>>;

  /// @param images how many there are
  /// @param width channels of a vector in which results are stored
  /// @param isAligned all that is read and stored
  BandBlock(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space, Bodies &bodies,
            const BandForm &form, mlir::Value images, uint32_t width, bool isAligned);

  const KernelFunction &kernel;
  const GroupShape &shape;
  KernelBuilder &k;
  GroupSpace &space;
  Bodies &bodies;
  const BandForm &form;
  const uint32_t width;
  const bool isAligned;
  const BandTile tile;
  const int64_t pairs; // of channels, of a warp
  const BandGeometry geometry;
  const BandForm::Slide down, along;
  TensorCore core;
  mlir::Value images;
  mlir::IntegerType word;
  mlir::Value arena, thread, lane, warp, firstChannel;
  BandRows rows;

  /// What a block goes through.
  struct Part {
    mlir::Value last; // pair of lines, all tiles one behind the other
    mlir::Value periods;
    Period first;
  };
  Part part() const;

  Point pointAt(llvm::ArrayRef<mlir::Value> loops);
  /// The filter's elements of neighbouring channels at a place of the window.
  Values filtersAt(mlir::Value down, mlir::Value along, mlir::Value channel, uint32_t count);
  /// The first line of results that a period may finish.
  mlir::Value firstResultOf(const Period &period) const;

  void loadBands();
  /// Words of a row: of groups, pairs of channels.
  size_t wordsOfRow() const { return size_t(geometry.groups * pairs); }
  /// What a loop carries of rows that a period keeps, and of sums of lines that have begun.
  void begin(Values &state);
  /// These, from what is carried, which is left with what stands behind.
  llvm::SmallVector<Values> keptRows(mlir::ValueRange &carried) const;
  Sums begun(mlir::ValueRange &carried);
  void carry(Values &next, llvm::ArrayRef<Values> rows, const Sums &sums) const;
  /// What the rows of a period, those it kept first, add to pairs of lines, by age.
  void multiply(const Period &period, llvm::ArrayRef<Values> rows, Sums &sums);

  /// Whether some of a lane's sums are not finite.
  mlir::Value areNotFinite(llvm::ArrayRef<Values> sums);
  /// Pairs of channels of both lines, as products have them.
  mlir::Value sumAt(mlir::Value from, mlir::Value line, mlir::Value place, mlir::Value channel);
  /// This lane's sums of a finished pair of lines, each from its own window in memory, to where sumAt() says.
  void sumPlainly(const Period &period, mlir::Value to);

private:
  mlir::Value moved(mlir::Value word, int64_t row, int64_t line, mlir::Value kept);
  mlir::Value zero_;                // the block's place in a grid of one layer: an assembler does not know that
  llvm::SmallVector<Values> bands_; // [window, down][groups, pairs of channels]
};

} // namespace tenon::compiler::codegen
