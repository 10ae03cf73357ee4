// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient by the filters of a convolution of each channel for itself as its kernel sees it, and how its threads
// share the work (channel_sums.h).
#pragma once

#include "compiler/codegen/contraction/product.h"
#include "compiler/dispatch/analysis/convolutions/channel_filters.h"

namespace tenon::compiler::codegen {

// Of a block; blocks of a multiprocessor, so that threads have registers for what they sum and for what they load.
inline constexpr int64_t kChannelThreads = 256, kChannelBlocks = 2;

struct ChannelForm {
  dispatch::ChannelFilters loops;
  Product product;
  KernelTensor image, gradient;     // the image by the map that leads to places outside of it, too
  llvm::SmallVector<int64_t> sizes; // [loops of the operation]

  static std::optional<ChannelForm> of(const KernelFunction &kernel, const GroupShape &shape);
  int64_t channels() const { return sizes[loops.channel]; }
  int64_t parts() const;

  /// A dimension of the image along which windows slide: how many places the window has, and the gradient's.
  struct Slide {
    std::optional<unsigned> dimension; // none: all of them are one
    int64_t window = 1, length = 1, step = 1, apart = 1;
    /// What windows of so many neighbours meet, from the first place of the first one on, in order.
    llvm::SmallVector<int64_t> met(int64_t neighbours) const;
  };
  Slide slide(std::optional<unsigned> dimension) const;
  Slide along() const { return slide(loops.along()); }
  Slide down() const { return slide(loops.down()); }
  int64_t windowPlaces() const { return along().window * down().window; }
};

/// A thread has some neighbouring channels, and sums over a patch of the gradient at a time: so many lines of so many
/// places.
struct ChannelTile {
  int64_t lanes = 1;                                         // neighbouring channels of a thread
  int64_t lines = 1, run = 1;                                // of a patch: divisors of what there is
  int64_t across = 1;                                        // threads side by side, which have other channels
  int64_t teams() const { return kChannelThreads / across; } // of such threads, each with patches of its own
  int64_t chunks(const ChannelForm &form) const { return form.channels() / (lanes * across); }
  int64_t patches(const ChannelForm &form) const;
  /// Numbers that a thread keeps in registers.
  int64_t kept(const ChannelForm &form) const;

  /// The one that is done first.
  static ChannelTile of(const ChannelForm &form);
};

} // namespace tenon::compiler::codegen
