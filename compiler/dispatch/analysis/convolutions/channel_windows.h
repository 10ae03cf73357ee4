// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution of each channel for itself whose channels lie last, or its gradient by the image, which is another one:
//
//   result[n, y, x, c] = sum of image[n, y + ky, x + kx, c] * filters[ky, kx, c]
//
// A channel is multiplied by nothing but its own window, so it is no product of matrices. It becomes one where
// neighbouring results are columns: what they meet of the image together is what is summed over, and the window moves
// down from column to column (codegen/grouped/bands/band_form.h).
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"

namespace tenon::compiler::dispatch {

struct ChannelWindows {
  /// A dimension of the image along which windows slide: result * step + place in the window * apart + offset. Places
  /// are counted from the first element on that a window meets; the window's loop may run backwards.
  struct Place {
    unsigned loop;                  // of the results
    std::optional<unsigned> window; // which is summed over; none: it has one place
    int64_t step = 1, apart = 1, offset = 0;
    bool isBackwards = false;
  };
  mlir::Value image;
  mlir::AffineMap imageMap;             // it may lead to places outside
  bool isImageLeft = true;              // of the product
  unsigned channel = 0;                 // the last dimension of the image and of the results
  llvm::SmallVector<unsigned, 2> outer; // loops of the image's first dimensions, along which nothing slides
  std::optional<Place> down;            // the dimension in front of `along`
  Place along;                          // the one in front of the channels

  /// Nothing where the product is none, a size is unknown but for the number of images, the first dimension, elements
  /// are no f16 or bf16 in memory, or windows slide in another way.
  static std::optional<ChannelWindows> of(const Contraction &product);
};

} // namespace tenon::compiler::dispatch
