// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What gradients by the filters of a convolution have in common: sums over the places of images, of products of the
// gradient there and of what a window meets of the image (grouped_filters.h, channel_filters.h).
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"

namespace tenon::compiler::dispatch {

/// An index of the image: what loops of the operation add up to.
struct FilterPlace {
  std::optional<unsigned> loop;   // that is summed over
  std::optional<unsigned> window; // of the results
  int64_t step = 1, apart = 1, offset = 0;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> parts; // loops of both sides and of the result, and their steps

  /// Nothing where a loop counts down, or two of a kind are added.
  static std::optional<FilterPlace> of(const Contraction &product, mlir::AffineExpr index, unsigned dimensions);
};

/// A tensor that a side of the product is an element of.
struct FilterRead {
  mlir::Value tensor;
  mlir::AffineMap map; // which may lead to places outside of it

  /// Nothing where the side is computed from anything else.
  static std::optional<FilterRead> of(const ContractionSide &side, mlir::linalg::GenericOp op);
};

/// The two sides of such a sum, where one of them slides.
struct FilterSides {
  FilterRead image, gradient;
  bool isImageLeft = true; // of the product

  /// Nothing where a size is unknown, but for that of the first dimensions if `mayCountImages`, or factors are of two
  /// types.
  static std::optional<FilterSides> of(const Contraction &product, bool mayCountImages = false);
  /// Loops that are rows or columns of the product, of one of them.
  static llvm::ArrayRef<unsigned> ownLoops(const Contraction &product, bool ofLeft) {
    return ofLeft ? product.rows : product.columns;
  }
};

} // namespace tenon::compiler::dispatch
