// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions across rows: the elements that are adjacent in memory belong to different results.
//
// A block takes `across` vectors of adjacent results; its threads walk down the reduced axes side by side, and their
// accumulators are combined in shared memory.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class Columns : public Strategy {
public:
  llvm::StringRef name() const override { return "columns"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  void write(Writer &writer) const override;
  bool dividesBySizes() const override { return true; }
};

} // namespace tenon::compiler::codegen
