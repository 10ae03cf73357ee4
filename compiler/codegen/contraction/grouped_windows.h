// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution in groups of few channels (dispatch/analysis/grouped.h). Per byte of the image there is little to
// multiply, so memory is what counts: a block brings a patch of one image, and all places that its windows meet, of
// several neighbouring groups at once, so that lines of memory are read whole; and the filters of these groups.
//
//   patch   [places of the image][groups][channels]     a line for each place, and 16 bytes behind it
//   filters [groups][filters][places of the window][channels]
//
// Channels come in quads: four neighbours of one place of the window, zeros behind a group's last. A step of
// mma.sync multiplies 16 reduced elements; lane l has quad l % 4 of the step of rows l / 4 and l / 4 + 8, results at
// neighbouring places, and of column l / 4, a filter: 8 bytes each, in an order that does not matter to a sum. No step
// has elements of two groups, so no zero of one group's filters meets an infinity of another group's image.
//
// Elsewhere (f32, and what sm_75 and older have no tensor cores for) lanes are places, four each, and a warp has four
// filters, which all its lanes read at once.
#pragma once

#include "compiler/codegen/contraction/product.h"
#include "compiler/dispatch/analysis/grouped.h"

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
  int64_t tilesOf(const GroupedForm &form) const; // of one image
};

inline constexpr uint32_t kGroupedThreads = 256;

/// Block b computes tile b of the tiles of all images.
void writeGroupedWindows(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                         Bodies &bodies, const GroupedForm &form, const abi::TargetArch &target);

} // namespace tenon::compiler::codegen
