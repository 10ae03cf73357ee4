// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups that reduce nothing: each thread computes 16 bytes of the widest tensor, adjacent elements of the last axis.
// Where bases are not aligned to that, threads take elements side by side, one at a time. Where rows are no multiple of
// it, a vector that lies in two rows is left to the warp, and the others test each access. Rows of unknown length are
// several kernels, by what they are a multiple of: `multiple`.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class Elementwise : public Strategy {
public:
  llvm::StringRef name() const override { return "elementwise"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  void write(Writer &writer) const override;
  bool dividesBySizes() const override { return true; }
  bool asksForSmall(const KernelFunction &kernel, const GroupShape &shape) const override;
};

} // namespace tenon::compiler::codegen
