// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over windows that overlap: pooling, convolutions of each channel for itself, stencils. An element is read
// by several results, so there is nothing that threads could combine; caches have it when the next one wants it.
//
// A thread computes 16 bytes of adjacent results, element by element of their windows in order, several of them on
// their way at once. Of many results with short windows it computes a tile of up to 4 x 4 along the axes before the
// last, an image's rows and columns: what it has read for one is there for the next, and filters are read once.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class Windows : public Strategy {
public:
  llvm::StringRef name() const override { return "windows"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  /// Of an unknown number of images, a kernel for few and one for more.
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  bool takes(llvm::StringRef choice, int64_t value) const override;
  void write(Writer &writer) const override;
};

} // namespace tenon::compiler::codegen
