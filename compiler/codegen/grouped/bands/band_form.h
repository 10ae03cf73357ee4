// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution of each channel for itself on tensor cores, as its kernel sees it (band_sums.h), and how blocks share
// it.
//
// A piece is four neighbouring results of a row. Together they meet a few places of each row of the image that their
// windows reach: of windows of seven, ten. Of two neighbouring channels a piece is eight columns of a product, and what
// is summed over are groups of four places of the two channels:
//
//   sums[piece, (x, c)] = sum over places p and channels d of image[piece, (p, d)] * band[(p, d), (x, c)]
//
// The band has the filter's element where place p lies in the window of result x and the channels are the same, and
// zeros beside it. Of 7 x 7 windows 168 products are computed for 49 that are wanted, by units that have 16 times as
// many as the arithmetic of f32. A zero times what is infinite or no number is none, so a piece that meets such an
// element has no finite sums: whoever finds some that are not computes them again, each from its own window.
//
// Nothing is turned around for that: lane l of a warp has of a group the place l % 4 of piece l / 4, and of the sums
// result l % 4 of piece l / 4. Where channels lie last, what it reads at once are eight channels of a place, the left
// sides of four products, and what it has at the end are eight channels of a result.
//
// A warp goes down the rows of eight pieces, two lines of results with each period. The image's rows pass once; what
// they add to the lines whose windows they lie in is added at once: of windows of seven to four pairs of lines.
#pragma once

#include "compiler/codegen/contraction/product.h"
#include "compiler/dispatch/analysis/convolutions/channel_windows.h"

namespace tenon::compiler::codegen {

// Of a block; blocks of a multiprocessor.
inline constexpr int64_t kBandThreads = 128, kBandWarps = kBandThreads / 32, kBandBlocks = 2;

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
  /// Where it is not known how many there are, as many as tiles are chosen for.
  int64_t images() const;
  bool knowsImages() const;
  /// Whether so many at a time leave none over.
  bool areImagesWhole(int64_t each) const { return knowsImages() ? images() % each == 0 : each == 1; }
};

/// What a block goes down at once: eight pieces of some images, of some channels that each of its warps has.
struct BandTile {
  int64_t images = 1; // a power of two, at most kPieces
  int64_t vector = 8; // channels of a warp; 4 where registers hold no bands of 8

  static constexpr int64_t kPieces = 8, kWide = 4; // results of a piece
  static constexpr int64_t kLines = 2;             // of results, with each period
  static constexpr int64_t kPlaces = kPieces * kWide;
  int64_t channels() const { return vector * kBandWarps; }
  int64_t across() const { return kPieces / images; }
  /// Of one chunk of the channels.
  int64_t tilesOf(const BandForm &form) const;
  int64_t chunksOf(const BandForm &form) const { return int64_t(llvm::divideCeil(form.channels(), channels())); }

  /// The one that computes and reads least; nothing where none fits.
  static std::optional<BandTile> of(const BandForm &form);
};

struct BandGeometry {
  BandTile tile;
  int64_t groups;                      // of four places, of a piece
  int64_t places;                      // of an image's row in shared memory
  int64_t newRows, keptRows;           // of the image: that a period brings, and that it has of the one before
  int64_t shift = 0;                   // rows that a period begins before the first one of a window
  int64_t delay;                       // periods from a line's first row to its last
  int64_t skipped = 0;                 // periods of a tile that meet nothing of the image
  int64_t pairs;                       // of lines, of a tile
  int64_t window, step, apart, offset; // down
  int64_t pitch, rowBytes;             // from a place to the next, from a row
  int64_t sumPitch;                    // numbers from a place of results to the next
  int64_t stages, sumBytes;

  BandGeometry(const BandForm &form, BandTile chosen);
  /// Periods that begin so many rows before the first one of a window.
  void placePeriods(int64_t before);
  /// A row of the window: the age of the lines, in periods, to which a period's rows add it, and which of the period's
  /// rows that is for the upper of the two lines.
  int64_t ageOf(int64_t down) const { return (down * apart + shift) / newRows; }
  int64_t rowOf(int64_t down) const { return (down * apart + shift) % newRows; }
  /// Whether the rows that a tile's first period would have kept lie outside of the image.
  bool beginsOutside() const { return keptRows != 0 && offset - shift + skipped * newRows + keptRows <= 0; }
  /// The number of a tile's period that has its first results; more periods where a block begins in the middle of one.
  int64_t before() const { return delay + (keptRows == 0 || beginsOutside() ? 0 : 1); }
  int64_t moreBefore() const { return beginsOutside() ? 1 : 0; }
  int64_t periodBytes() const { return newRows * rowBytes; }
  int64_t sharedBytes() const { return stages * periodBytes() + 2 * sumBytes; }
  /// Of a thread: sums, bands and rows of the image.
  int64_t registers() const;
};

/// Whether that is faster than windows that slide (strategies/windows/windows.h).
bool isWorthBands(const BandForm &form);

/// Pairs of lines of a block, all tiles of a chunk one behind the other: so many that blocks are one wave of a large
/// device. Of an unknown number of images the blocks share what there is.
int64_t pairsOfBlock(const BandForm &form, const BandTile &tile);
int64_t blocksOf(const BandForm &form, const BandTile &tile);

} // namespace tenon::compiler::codegen
