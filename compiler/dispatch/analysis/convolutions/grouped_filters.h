// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient by the filters of a convolution in groups of few channels (grouped.h): a sum over all places of all
// images, of which each group has a few results.
//
//   result[g, f, ky, kx, c] = sum of gradient[n, y, x, g, f] * image[n, y + ky, x + kx, g, c]
//
// Images, or rows of them, may be parts of the result (splits/): then these are loops of it, too.
#pragma once

#include "compiler/dispatch/analysis/convolutions/filter_places.h"

namespace tenon::compiler::dispatch {

struct GroupedFilters {
  mlir::Value image, gradient; // tensors
  mlir::AffineMap imageMap, gradientMap;
  bool isImageLeft = true;                  // of the product
  llvm::SmallVector<FilterPlace, 5> places; // [dimensions of the image]; of the group and the channel they are empty
  unsigned groupDimension = 0;              // of the image; the channels' is the next one
  unsigned group = 0, filter = 0, channel = 0;
  llvm::SmallVector<unsigned, 2> parts, windows;
  llvm::SmallVector<unsigned, 3> summed; // as the gradient's dimensions are ordered

  /// Nothing where the product is none, a size is unknown, elements are no f16 or bf16 in memory, or groups have other
  /// numbers of channels and filters than kernels take: powers of two from 4 to 32, of filters to 64.
  static std::optional<GroupedFilters> of(const Contraction &product);
};

/// Neighbouring groups that a block takes at once: their channels fill a line of 64 bytes, or are as many as tensor
/// cores need. Longer lines leave fewer blocks.
int64_t groupsOfLine(int64_t channels, int64_t filters);

} // namespace tenon::compiler::dispatch
