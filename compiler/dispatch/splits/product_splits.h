// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into how many parts the sum of a product is taken, whose tiles are fewer than a GPU has multiprocessors, or are one
// round of them and a few more: models of how long the tiles of all parts take, and the sum of the parts.
#pragma once

#include "compiler/dispatch/splits/known_split.h"

namespace tenon::compiler::dispatch {

struct ProductSplit {
  llvm::SmallVector<Split, 2> splits; // one after the other; none: it has tiles enough

  ProductSplit() = default;
  ProductSplit(llvm::ArrayRef<Split> splits) : splits(splits) {}
  ProductSplit(const std::optional<Split> &split) {
    if (split)
      splits.push_back(*split);
  }
};

/// Of a product of two sides. Nothing where it is none that tiles, or blocks of few rows, compute.
std::optional<ProductSplit> productSplitOf(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
