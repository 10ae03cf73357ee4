// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of positions on several axes. Row by row, a tile of 128 numbers lies across the rows of an image wherever a
// row ends. Patch by patch it is a box, which one copy brings:
//
//   axes (n, y, x), sides (1, 8, 16)      numbers 0 to 127: image 0, rows 0 to 7, columns 0 to 15
//                                         numbers 128 to 255: the patch to the right
//
// Patches cover each axis to its end and beyond: what lies beyond has a number, and is no position.
#pragma once

#include "compiler/codegen/contraction/product.h"

namespace tenon::compiler::codegen {

struct Patches {
  llvm::SmallVector<int64_t> sides; // [axes], each at least 1; none: numbers are row by row

  explicit operator bool() const { return !sides.empty(); }
  /// Positions of a patch.
  int64_t size() const;
  /// Numbers that there are, where sizes are known.
  int64_t count(llvm::ArrayRef<int64_t> sizes) const;
};

/// Patches of `rows` positions that cover the rows of the product with the fewest numbers; none where its rows are one
/// axis, or a size is unknown but for the outermost: of any number of images some patches cover all.
Patches patchesOfRows(const GroupShape &shape, const Product &product, int64_t rows);
/// Whether neighbours in memory are positions across of both sides, whose reduced elements are several axes: the
/// gradient of a convolution by its filters.
bool liesAcross(const Product &product);
/// Steps of `depth` reduced elements, each of one place of the other reduced axes; none where there is one axis, a size
/// is unknown, or more than half of what is multiplied would be zeros.
///
/// Where both sides lie across, a step is one or more patches of all reduced axes, which end where the axes do: an
/// element of one side never meets a zero of the other that stands for nothing. Only the outermost axis may be left,
/// where both sides have nothing there.
Patches patchesOfReduced(const GroupShape &shape, const Product &product, int64_t depth);

} // namespace tenon::compiler::codegen
