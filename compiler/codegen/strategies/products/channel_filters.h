// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients by the filters of convolutions of each channel for itself, channels last, and what is computed from each
// element of their results: a thread has all results of one or two channels (codegen/grouped/channel_sums.h).
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class ChannelFiltersStrategy : public Strategy {
public:
  llvm::StringRef name() const override { return "channel_filters"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  bool takes(llvm::StringRef choice, int64_t value) const override;
  void write(Writer &writer) const override;
};

} // namespace tenon::compiler::codegen
