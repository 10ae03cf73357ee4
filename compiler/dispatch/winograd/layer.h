// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution of f32 in steps of one whose window is a small square, as tiles see it. Forward, and by data,
//
//   out[n, y, x, k] = sum over r, s, c of image[n, y + r - low, x + s - low, c] * other[r, s, c, k]
//
// in any order of dimensions, `other` perhaps read backwards along the window; by filters
//
//   out[r, s, c, k] = sum over n, y, x of image[n, y + r - low, x + s - low, c] * other[n, y, x, k].
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

#include <array>

namespace tenon::compiler::dispatch {

struct WindowLayer {
  bool isOfFilters = false;
  bool isBackwards = false;
  mlir::Value image, other;       // the image without its border
  std::array<int64_t, 4> ofImage; // which dimension is n, y, x, c
  std::array<int64_t, 4> ofOther; // the one of both that comes first, or n by filters; r, s, or y, x; the other one
  std::array<int64_t, 4> ofOut;   // forward n, y, x, k; by filters as ofOther is of filters
  bool isFirstSummed = false;     // forward, of `other`: the dimension that comes first is c
  bool isFirstOfImage = false;    // by filters, of the result: the dimension that comes first is c
  std::array<int64_t, 2> low;
  int64_t window = 0; // of both sides
  int64_t images = 0, channels = 0, filters = 0;
  std::array<int64_t, 2> places; // y, x

  /// Nothing where it is any other convolution.
  static std::optional<WindowLayer> of(const Convolution &convolution);

  /// 2 x images x places x ...
  double operations() const;
};

} // namespace tenon::compiler::dispatch
