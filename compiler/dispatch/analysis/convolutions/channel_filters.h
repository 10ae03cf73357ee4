// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient by the filters of a convolution of each channel for itself, whose channels lie last: a sum over all
// places of all images, of which each channel has as many results as its window has places.
//
//   result[ky, kx, c] = sum of gradient[n, y, x, c] * image[n, y + ky, x + kx, c]
//
// Images, or rows of them, may be parts of the result (splits/): then these are loops of it, too.
#pragma once

#include "compiler/dispatch/analysis/convolutions/filter_places.h"

namespace tenon::compiler::dispatch {

struct ChannelFilters {
  mlir::Value image, gradient; // tensors
  mlir::AffineMap imageMap, gradientMap;
  bool isImageLeft = true;                  // of the product
  llvm::SmallVector<FilterPlace, 4> places; // [dimensions of the image]; of the channel it is empty
  unsigned channel = 0;                     // the last dimension of both
  llvm::SmallVector<unsigned, 2> parts;
  llvm::SmallVector<unsigned, 3> summed; // as the gradient's dimensions are ordered

  // Windows slide along the dimension in front of the channels, and along the one in front of that.
  unsigned along() const { return unsigned(places.size()) - 2; }
  std::optional<unsigned> down() const { return places.size() > 2 ? std::optional(along() - 1) : std::nullopt; }

  /// Nothing where the product is none, a size is unknown, elements are no f16, bf16 or f32 in memory, windows slide in
  /// another way, or have more places than a thread has registers for.
  static std::optional<ChannelFilters> of(const Contraction &product);
};

} // namespace tenon::compiler::dispatch
