// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient by the filters of a convolution in groups of few channels as its kernel sees it, what a block computes
// of it, and what it has in shared memory (filter_sums.h).
#pragma once

#include "compiler/codegen/contraction/product.h"
#include "compiler/dispatch/analysis/convolutions/grouped_filters.h"

namespace tenon::compiler::codegen {

struct GroupedFilterForm {
  dispatch::GroupedFilters loops;
  Product product;
  KernelTensor image, gradient;     // the image by the map that leads to places outside of it, too
  llvm::SmallVector<int64_t> sizes; // [loops of the operation]
  int64_t groups = 0, channels = 0, filters = 0;
  int64_t lineGroups = 0; // of a block

  static std::optional<GroupedFilterForm> of(const KernelFunction &kernel, const GroupShape &shape);
  int64_t windowPlaces() const;
  int64_t lines() const { return int64_t(llvm::divideCeil(groups, lineGroups)); }
  int64_t parts() const;
  /// Channels, or filters, of neighbouring groups are neighbours in memory.
  bool isLastInMemory(const KernelTensor &tensor) const;
};

inline constexpr int64_t kFilterWarps = 8;

/// How the warps share a block's results. Tensor cores multiply 16 filters by twice 8 channels of the same groups:
/// where groups are smaller, results of two groups' elements come with them, which nobody takes.
struct FilterUnits {
  int64_t blocks = 0;    // of 16 filters
  int64_t fragments = 0; // of 8 channels, of the groups of such a block: one, or an even number
  int64_t pairs = 0;     // of these
  int64_t chunks = 0;    // of the window's places
  int64_t places = 0;    // of a chunk

  explicit FilterUnits(const GroupedFilterForm &form);
  int64_t count() const { return blocks * pairs * chunks; }
  bool fit() const;
};

/// Results' places that a block sums over at once, and the part of the image that their windows meet.
struct FilterTile {
  llvm::SmallVector<int64_t> sides;   // [form.loops.summed]
  llvm::SmallVector<int64_t> extents; // [dimensions of the image]
  int64_t places = 0, positions = 0;
  int64_t imageLine = 0, gradientLine = 0; // bytes from one to the next

  FilterTile(const GroupedFilterForm &form, llvm::ArrayRef<int64_t> sides);
  /// The one that is done first; nothing where none fits.
  static std::optional<FilterTile> of(const GroupedFilterForm &form);
  int64_t tilesOf(const GroupedFilterForm &form) const;
  int64_t wholePlaces() const { return int64_t(llvm::alignTo(places, 16)); }
  int64_t imageBytes() const { return positions * imageLine; }
  /// Of two stages: one is brought while the other is multiplied.
  int64_t stageBytes() const { return imageBytes() + wholePlaces() * gradientLine; }
  int64_t zerosAt() const { return 2 * stageBytes(); }
  int64_t sharedBytes() const { return zerosAt() + imageLine; }
};

} // namespace tenon::compiler::codegen
