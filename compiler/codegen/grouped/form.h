// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution in groups of few channels as its kernel sees it, what a block computes of it, and what it has in shared
// memory (windows.h).
#pragma once

#include "compiler/codegen/contraction/product.h"
#include "compiler/dispatch/analysis/convolutions/grouped.h"

namespace tenon::compiler::codegen {

struct GroupedForm {
  struct Place {
    unsigned dimension; // of the image
    unsigned axis;      // of the space
    std::optional<unsigned> window;
    int64_t step, apart, offset;
    int64_t results, length; // of them, of the window
  };
  Product product; // the image is left
  const KernelTensor *image = nullptr, *filters = nullptr;
  bool hasBorder = false;
  bool hasImages = false;            // the first place is the image, of which a tile may have several
  unsigned group = 0, channel = 0;   // axes of the space
  llvm::SmallVector<unsigned> outer; // of the product's rows, along which nothing slides
  llvm::SmallVector<Place> places;
  int64_t groups = 0, channels = 0, columns = 0; // columns: filters of a group
  uint32_t elementBytes = 0;

  static std::optional<GroupedForm> of(const KernelFunction &kernel, const GroupShape &shape);
  int64_t windowPlaces() const;
  /// Whether an image's elements at a place are neighbours, group by group.
  bool isLastInMemory() const;
};

/// What a block computes.
struct GroupedTile {
  llvm::SmallVector<int64_t> sides; // results along each of the form's places
  int64_t groups = 1;

  /// The one that is done first by its bytes; nothing where none fits.
  static std::optional<GroupedTile> of(const GroupedForm &form);
  int64_t results() const;                        // places of them
  int64_t tilesOf(const GroupedForm &form) const; // of one image, or of all where they are a place
};

/// Channels that are read together.
inline constexpr int64_t kGroupedQuad = 4;

struct GroupedGeometry {
  GroupedTile tile;
  llvm::SmallVector<int64_t> extents; // of the image that windows of the tile meet, along each of the form's places
  int64_t positions = 0;              // their product
  int64_t channels = 0;               // of a group, whole quads
  int64_t columns = 0;                // of a group, whole fragments, or quads
  int64_t quads = 0;                  // of a window
  int64_t steps = 0;                  // of four quads
  int64_t filterQuads = 0;            // from a filter to the next
  int64_t lineBytes = 0;              // from a position to the next
  int64_t sumsOfLine = 0;             // from a result's sums to those of the next
  int64_t patchBytes = 0, filterBytes = 0, sharedBytes = 0;

  GroupedGeometry(const GroupedForm &form, GroupedTile chosen);
};

} // namespace tenon::compiler::codegen
