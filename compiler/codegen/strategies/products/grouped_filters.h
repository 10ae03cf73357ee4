// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients by the filters of convolutions in groups of few channels, and what is computed from each element of their
// results: a block sums over tile after tile of places (codegen/grouped/filter_sums.h).
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class GroupedFiltersStrategy : public Strategy {
public:
  llvm::StringRef name() const override { return "grouped_filters"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  bool takes(llvm::StringRef choice, int64_t value) const override;
  void write(Writer &writer) const override;
  unsigned variantFor(const abi::TargetArch &target) const override {
    return target.number >= 80 ? 2 : target.number >= 75;
  }
};

} // namespace tenon::compiler::codegen
