// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies whose last dimension is short and says, taken apart, where an element comes from, such as the patches of an
// image with few channels (dispatch/products/patches/few_channels.h):
//
//   rows[n, y, x, k] = image[n, k % 3, 2 y + k / 9, 2 x + k / 3 % 3]    zeros behind the last k, and outside of the
//   image
//
// A thread computes a whole row: what it takes k apart for is known when the kernel is compiled, places of the image
// are computed once for all of the row, and its loads are on their way together. With a vector a thread, it would
// divide for each of its elements, and lanes that lie inside and outside of the image would be computed apart (an H200,
// 32 x 3 x 224 x 224 bf16: 47 us, where memory takes 15).
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class GatheredRows : public Strategy {
public:
  llvm::StringRef name() const override { return "gathered_rows"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  void write(Writer &writer) const override;
  bool dividesBySizes() const override { return true; }
  bool asksForSmall(const KernelFunction &, const GroupShape &) const override { return true; }
};

} // namespace tenon::compiler::codegen
