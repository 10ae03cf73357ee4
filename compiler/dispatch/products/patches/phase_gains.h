// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What phases of a convolution save, beside what they cost (phases.h says what phases are).
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"
#include "compiler/dispatch/products/patches/dilation.h"

namespace tenon::compiler::dispatch {

class PhaseGains {
public:
  /// @param areApart phases are a batch, for they meet different elements; else columns
  PhaseGains(const Convolution &convolution, const DilatedConvolution &whole, bool areApart)
      : convolution_(convolution), whole_(whole), areApart_(areApart) {}

  /// How many products of each result and channel are none of a zero that stands for nothing, with those of results
  /// that only fill the last group of phases.
  double productsSaved() const;
  /// Whether a copy of the result behind it takes less time than the products that are saved.
  bool areWorthCopy() const;
  /// Whether results that steps do not divide are worth a copy of their own places.
  bool areWorthOwnPlaces() const;
  /// Whether the products that are saved take longer than the filters of all phases, which are written and read, with
  /// zeros where a phase meets nothing: those of a small image may be most of what is read.
  bool areWorthFilters() const;

private:
  const Convolution &convolution_;
  const DilatedConvolution &whole_;
  const bool areApart_;
};

} // namespace tenon::compiler::dispatch
