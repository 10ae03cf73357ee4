// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of each channel for itself whose windows are large, and what is computed from each element of their
// results: products with bands of filters on tensor cores (codegen/grouped/bands/band_sums.h). Targets
// without take the kernel of the strategy `windows`.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class Bands : public Strategy {
public:
  llvm::StringRef name() const override { return "bands"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  /// None where `windows` are faster. `tenon.tile = {by = "bands"}` (dialect/tile_pins.h) takes them anyway, and by
  /// "windows" never.
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  unsigned variantFor(const abi::TargetArch &target) const override { return hasCores(target) ? 1 : 0; }
  bool takes(llvm::StringRef choice, int64_t value) const override;
  void write(Writer &writer) const override;

private:
  /// Tensor cores that sum 16 products of f16 or bf16 with an instruction.
  static bool hasCores(const abi::TargetArch &target) { return target.number >= 80; }
};

} // namespace tenon::compiler::codegen
