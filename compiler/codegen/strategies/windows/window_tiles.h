// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which results a thread of the strategy `windows` computes together, and how many lanes of each.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

// Elements of a window that a thread loads before it combines them; a window of no more is straight-line code.
inline constexpr int64_t kInFlight = 9;
// Accumulators of a thread; of more results, each thread has fewer.
inline constexpr uint32_t kMostAccumulators = 32;
// Of windows of so many elements reading is all that matters, and vectors are as wide as what is read.
inline constexpr int64_t kLongWindow = 64;

// Lines of a tile whose windows are all read before anything is computed.
inline constexpr int64_t kMostLinesAtOnce = 4, kMostSlidingLines = 16;

// A tile of results: lines along the axis before that, runs along the axis before the last.
struct WindowTile {
  int64_t lines = 1, run = 1;
  uint32_t width = 1;     // lanes of each result
  uint32_t threads = 256; // of a block

  int64_t size() const { return lines * run; }
  /// Whether windows slide down the lines: each row of the image is read once, and is part of all windows that it lies
  /// in (windows.cpp).
  bool slides() const { return lines > kMostLinesAtOnce; }
};

/// How a tensor is read through windows along an axis: how far the next result's window is away, and how long it is;
/// nothing where there is none.
struct WindowAlong {
  int64_t step = 1, length = 1, apart = 1; // below 0: the window runs backwards
  unsigned axis = 0;                       // of the space: the window's
  int64_t dilation = 1;                    // of the image: so many places are one element, and zeros behind it
  /// Whether a tile of so many results of an axis knows which of the places it meets are elements.
  bool knowsElements(int64_t results, int64_t length) const {
    return dilation == 1 || (results % dilation == 0 && length % results == 0);
  }
  /// Places that windows of so many results meet, counting each once; of an image with zeros, its elements.
  int64_t placesOf(int64_t results) const {
    llvm::SmallDenseSet<int64_t> places;
    for (int64_t result = 0; result < results; ++result)
      for (int64_t place = 0; place < length; ++place)
        places.insert(result * step + place * apart);
    return int64_t(llvm::divideCeil(places.size(), uint64_t(dilation)));
  }
};
std::optional<WindowAlong> windowAlong(const KernelFunction &kernel, const GroupShape &shape, unsigned axis);

/// Results of a tile along an axis.
int64_t sideAlong(const GroupShape &shape, unsigned axis, WindowTile tile);
/// Tiles of results along the axes before the last, whose sizes are known.
int64_t tilesOf(const GroupShape &shape, WindowTile tile);
/// The same along each axis; a size that is not known stays what it is computed from.
llvm::SmallVector<Extent> tileExtents(const GroupShape &shape, WindowTile tile);
/// The shape with so many places on each parallel axis of unknown size.
GroupShape withImages(const GroupShape &shape, int64_t images);
/// Whether a thread may compute several results along the axis before the last: there is one of known size, and so is
/// the last's.
bool canRun(const GroupShape &shape);
/// The same of the axis before that: a line of results.
bool canHaveLines(const GroupShape &shape);
/// Which results a thread computes together: the windows overlap, so what it reads for one it has for the next.
WindowTile tileFor(const KernelFunction &kernel, const GroupShape &shape, uint32_t width, size_t sums);
/// Lanes of 16 bytes of the widest tensor that a reduction reads along the axis.
uint32_t readWidth(const KernelFunction &kernel, const GroupShape &shape, unsigned axis);

} // namespace tenon::compiler::codegen
