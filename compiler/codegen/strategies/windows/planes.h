// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows that overlap in images whose channels come first, by whole planes in shared memory (window_planes.h).
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class Planes : public Strategy {
public:
  llvm::StringRef name() const override { return "planes"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  /// None where `windows` are as fast. `tenon.tile = {by = "planes"}` (dialect/tile_pins.h) takes them anyway, and by
  /// "windows" never.
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  bool takes(llvm::StringRef choice, int64_t value) const override;
  llvm::StringRef whyNot(const KernelFunction &kernel) const override;
  /// sm_75 copies by its threads.
  unsigned variantFor(const abi::TargetArch &target) const override { return target.number >= 80 ? 1 : 0; }
  void write(Writer &writer) const override;
};

} // namespace tenon::compiler::codegen
