// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution of each channel for itself on tensor cores, as its kernel sees it (band_sums.h), and how blocks share
// it.
//
// Eight neighbouring results of a channel, `high` x `wide`, meet a piece of the image together: of 7 x 7 windows and 4
// x 2 results 10 x 8 places. They are the columns of a product, and so many reduced elements; its rows are 16 such
// pieces:
//
//   sums[piece, result] = sum over places of image[piece, place] * band[place, result]
//
// The band has the filter's element for the places that the result's window meets, and zeros beside it: 80 products are
// computed where 49 are wanted, by units that have 16 times as many as the arithmetic of f32. A zero times what is
// infinite or no number is none, so a piece that has such an element has no finite sums: whoever finds some that are
// not computes them again, each from its own window.
//
// Pieces below each other share rows of the image: what is read once is multiplied for all pieces that it is part of,
// by other parts of the same band.
//
// A piece is read in rows of eight places: a unit, half of what mma.sync sums at once. Lane l has places 2 (l % 4) and
// the next one of it, which is one word of shared memory where each channel lies by itself.
#pragma once

#include "compiler/codegen/contraction/product.h"
#include "compiler/dispatch/analysis/convolutions/channel_windows.h"

namespace tenon::compiler::codegen {

// Of a block, and blocks of a multiprocessor.
inline constexpr int64_t kBandThreads = 256, kBandWarps = kBandThreads / 32, kBandBlocks = 2;

struct BandForm {
  dispatch::ChannelWindows loops;
  Product product; // the image is left
  KernelTensor image;
  llvm::SmallVector<int64_t> sizes; // [loops of the operation]

  static std::optional<BandForm> of(const KernelFunction &kernel, const GroupShape &shape);

  /// How windows slide along one of the last two dimensions.
  struct Slide {
    int64_t results = 1, window = 1, step = 1, apart = 1, offset = 0;
    int64_t size = 1; // of the image
    /// Places that windows of so many neighbours span.
    int64_t spanOf(int64_t neighbours) const { return (neighbours - 1) * step + (window - 1) * apart + 1; }
  };
  Slide down() const;
  Slide along() const;
  int64_t channels() const { return sizes[loops.channel]; }
  int64_t images() const;
};

/// What a block computes, one patch after the other: some results of some images and neighbouring channels.
struct BandTile {
  int64_t high = 1, wide = 8;                // results of a piece
  int64_t images = 1, lines = 1, across = 1; // pieces of a patch

  static constexpr int64_t perWarp = 2;              // channels: with four their bands take the registers
  static constexpr int64_t kColumns = 8, kRows = 16; // of a product
  int64_t channels() const { return perWarp * kBandWarps; }
  /// Pieces of a line, of all images; they are rows of products, together with some that are none.
  int64_t inLine() const { return images * across; }
  int64_t ofLine() const { return int64_t(llvm::alignTo(inLine(), kRows)); }
  int64_t fragments() const { return lines * ofLine() / kRows; }
  int64_t chunksOf(const BandForm &form) const { return int64_t(llvm::divideCeil(form.channels(), channels())); }
  /// Of one chunk of the channels.
  int64_t patchesOf(const BandForm &form) const;

  /// The one that is done first; nothing where none fits.
  static std::optional<BandTile> of(const BandForm &form);
};

struct BandGeometry {
  BandTile tile;
  int64_t unitRows, unitsOfRow, units, steps; // of a piece
  int64_t patchUnits;                         // of all lines of pieces below each other
  std::optional<int64_t> stepsToNext;         // from a line's first to that of the next; none: lines share no steps
  int64_t rows, places;                       // of a patch of an image, whole pairs of places
  int64_t pitch, imagePitch, plane;           // elements from a row to the next, of images, of channels
  int64_t lineStep, pieceStep;                // rows from a line of pieces to the next, places from a piece
  int64_t sumPitch;                           // numbers from a result to the next
  int64_t oddRow, rowPair;                    // results from a row of all pieces to the next, from two rows to the next
  int64_t patchBytes, sumBytes;

  BandGeometry(const BandForm &form, BandTile chosen);
  /// Room behind rows of a patch, with which shared memory is read faster.
  void padRows();
  int64_t pairs() const { return tile.images * rows * (places / 2); }
  /// Rounds in which the threads bring a patch: pairs of places, of eight channels each.
  int64_t rounds() const { return int64_t(llvm::divideCeil(pairs() * (tile.channels() / 8), kBandThreads)); }
  int64_t sharedBytes() const { return patchBytes + sumBytes; }
  /// Where a piece of the first line begins in a plane.
  int64_t pieceAt(int64_t piece) const;

private:
  int64_t passes() const;
  void setPitch(int64_t elements);
};

/// Whether that is faster than windows that slide (strategies/windows.h): of large windows without steps, and where
/// blocks have several patches, so that one is brought while another is summed.
bool isWorthBands(const BandForm &form);

/// Patches of a block: so many that blocks are one wave of a large device.
int64_t patchesOfBlock(const BandForm &form, const BandTile &tile);
int64_t blocksOf(const BandForm &form, const BandTile &tile);

} // namespace tenon::compiler::codegen
