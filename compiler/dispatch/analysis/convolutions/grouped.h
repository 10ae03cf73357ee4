// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions in groups of few channels, as a ResNeXt has them: 32 groups, each with 4 to 32 channels and filters of
// its own.
//
//   result[n, y, x, g, f] = sum of image[n, y + ky, x + kx, g, c] * filters[g, f, ky, kx, c]
//
// Each group is a product of its own that is too narrow to fill a tile, while the images of neighbouring groups are
// neighbours in memory. So a kernel takes a patch of the image with many groups at once
// (codegen/grouped/windows.h), and nobody copies an operand for it.
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"

namespace tenon::compiler::dispatch {

struct GroupedWindows {
  /// A dimension of the image along which windows slide: result * step + place in the window * apart + offset.
  struct Place {
    unsigned dimension;             // of the image
    unsigned loop;                  // of the results
    std::optional<unsigned> window; // the loop of the window, which is summed over; none: it has one place
    int64_t step = 1, apart = 1, offset = 0;
  };
  const ContractionSide *image = nullptr, *filters = nullptr; // of the product it was found in
  mlir::AffineMap map;                                        // of the image
  unsigned group = 0, channel = 0;                            // loops
  llvm::SmallVector<unsigned, 2> columns;                     // a group's filters
  llvm::SmallVector<unsigned, 2> outer;                       // of the results, along which nothing slides: images
  llvm::SmallVector<Place, 3> places;                         // as the image's dimensions are ordered

  /// Nothing where the product is none: factors are no elements of f16, bf16 or f32 in memory, a size other than that
  /// of the image's first dimension is unknown, or groups have many channels or filters.
  static std::optional<GroupedWindows> of(const Contraction &product);
};

} // namespace tenon::compiler::dispatch
