// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a block of a kernel of bands (band_sums.h) goes down its tiles, and how rows of the image come to shared memory
// meanwhile: into a ring of periods, beside the threads where they may.
#pragma once

#include "compiler/codegen/grouped/bands/band_form.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

/// Numbers are 32 bits wide; only where an element of a tensor is takes 64.
class BandNumbers {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  explicit BandNumbers(KernelBuilder &k) : k_(k) {}
  mlir::Value n(int64_t value) const;
  mlir::Value add(mlir::Value x, int64_t y) const { return k_.add(x, n(y)); }
  mlir::Value mul(mlir::Value x, int64_t y) const { return k_.mul(x, n(y)); }
  mlir::Value less(mlir::Value x, int64_t y) const { return k_.less(x, n(y)); }
  mlir::Value wide(mlir::Value number) const;
  mlir::Value farther(mlir::Value number) const; // which may be below zero
  mlir::Value isNot(mlir::Value is) const;
  mlir::Value behind(mlir::Value base, mlir::Value bytes) const;
  mlir::Value behind(mlir::Value base, int64_t bytes) const;
  void both(mlir::Value &is, mlir::Value more) const { is = is ? k_.both(is, more) : more; }
  /// What a number counts along several sides, the last of which runs fastest; the first has any length.
  Values placeAlong(mlir::Value number, llvm::ArrayRef<int64_t> sides) const;

protected:
  KernelBuilder &k_;
};

class BandRows : BandNumbers {
public:
  static constexpr int64_t kCopy = 8; // channels that are brought together
  /// A period of a tile. It is the `number`-th, those before the first results included.
  struct Period {
    static constexpr size_t kMembers = 4;
    mlir::Value tile, number, from, end; // from: the first with results; end: of this block's part of the tile
    static Period of(mlir::ValueRange all) { return {all[0], all[1], all[2], all[3]}; }
    Values all() const { return {tile, number, from, end}; }
  };
  struct First { // of a tile: its first image and result of a row
    mlir::Value image, place;
  };

  /// @param images how many there are
  /// @param isAligned whether vectors of the image are
  /// @param arena what the periods' rows come to
  BandRows(const BandForm &form, const BandGeometry &geometry, KernelBuilder &k, Bodies &bodies, TensorCore &core,
           mlir::Value images, bool isAligned, mlir::Value arena, mlir::Value thread, mlir::Value firstChannel)
      : BandNumbers(k), form_(form), geometry_(geometry), tile_(geometry.tile), down_(form.down()),
        along_(form.along()), bodies_(bodies), core_(core), images_(images), isAligned_(isAligned), arena_(arena),
        thread_(thread), firstChannel_(firstChannel), element_(form.image.element), word_(k.b.getI32Type()) {}

  /// Of pairs of lines from `first` on, all tiles of a chunk one behind the other; before `last`.
  Period firstPeriod(mlir::Value first, mlir::Value last) const;
  Period next(const Period &period, mlir::Value last) const;
  First firstOf(mlir::Value tile) const;
  /// The thread's part of a period's new rows, from byte `slot` of the arena on; zeros outside of the image, and where
  /// the period does not exist.
  void bring(const Period &period, mlir::Value exists, mlir::Value slot) const;

private:
  Values wordsAt(mlir::Value isThere, mlir::Value number) const;

  const BandForm &form_;
  const BandGeometry &geometry_;
  const BandTile tile_;
  const BandForm::Slide down_, along_;
  Bodies &bodies_;
  TensorCore &core_;
  mlir::Value images_;
  const bool isAligned_;
  mlir::Value arena_, thread_, firstChannel_;
  mlir::Type element_;
  mlir::IntegerType word_;
};

} // namespace tenon::compiler::codegen
