// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of an image with zeros between its elements: which results and which places of the window meet elements.
#pragma once

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// A dimension of the image with zeros between its elements: the result's loop, that of the window, and where they
/// meet: result + factor * window + offset is a multiple of the step. Results that lie `step` apart are of one phase.
struct Dilation {
  unsigned dimension, result, window; // dimension of the image, loops
  int64_t step, factor, offset;
  int64_t results, places; // sizes of the loops
  int64_t first = 0;       // element that any phase meets, of result 0
  int64_t taps = 0;        // how many there are from it on

  /// The place of the window at which phase `phase` meets the element of tap `tap`.
  std::optional<int64_t> placeOf(int64_t phase, int64_t tap) const;
  /// How many elements all phases meet together: some phases may meet less than others.
  int64_t pairs() const;
  bool hasAllPairs() const { return pairs() == step * taps; }
  /// Of results, one of each phase; the last one may have more than there are.
  int64_t groups() const { return (results + step - 1) / step; }
  bool hasWholeGroups() const { return results % step == 0; }
  /// False where no phase meets any.
  bool findTaps();
};

struct DilatedConvolution {
  DilatedImage image;
  llvm::SmallVector<Dilation> dilations; // one at least, in the order of the image's dimensions

  /// Nothing where the convolution's image is no such, or has another reader.
  static std::optional<DilatedConvolution> of(const Convolution &convolution);
  /// Null: the dimension has no zeros between its elements; the loop is no result's of such a one.
  const Dilation *ofDimension(unsigned dimension) const;
  const Dilation *ofResult(unsigned loop) const;
};

} // namespace tenon::compiler::dispatch
