// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups without a reduction that turn a short axis, such as the nine places of a window:
//
//   y[f, k, c] = x[f, c, k]     filters of a convolution, as tensor cores read them
//   y[m, c, k] = x[m + k, c]    patches of an image, in the order of such filters
//
// A tile in shared memory would be mostly empty along nine elements. Eight neighbours along the other axis, with all
// elements of the short one, are 72 adjacent elements on one side, whole vectors, and nine vectors on the other side.
// A thread has these in registers:
//
//   x[f, c .. c + 8, 0 .. 9]  nine vectors, adjacent  ->  y[f, k, c .. c + 8]  a vector for each k
//
// Threads beside each other have their vectors on one side beside each other; on the other side, what one reads of a
// line the others find in a cache, and what they write goes through shared memory to whole lines.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class ShortTurns : public Strategy {
public:
  llvm::StringRef name() const override { return "short_turns"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  void write(Writer &writer) const override;
  bool dividesBySizes() const override { return true; }
  bool asksForSmall(const KernelFunction &, const GroupShape &) const override { return true; }
};

} // namespace tenon::compiler::codegen
