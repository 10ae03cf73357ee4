// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions along adjacent elements, with everything that reads them back: sums of rows, softmax, norms.
//
// A row is computed by `lanes` threads: a power of two of neighbours in a warp, several rows to a warp, or all threads
// of a block. Each phase of the group is one pass over the row: threads combine what lies before them, then their
// results are combined. A row that fits is loaded once and kept in registers (`chunks` vectors a thread); else every
// pass reads it again.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class Rows : public Strategy {
public:
  llvm::StringRef name() const override { return "rows"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  void write(Writer &writer) const override;
  bool dividesBySizes() const override { return true; }
  bool asksForSmall(const KernelFunction &kernel, const GroupShape &shape) const override;
};

} // namespace tenon::compiler::codegen
