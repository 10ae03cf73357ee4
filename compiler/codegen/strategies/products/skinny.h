// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a matrix with a vector or with few of them, and what is computed from each element of their results: the
// matrix is read once, at the speed of memory (codegen/contraction/kernels/skinny/skinny_product.h). What it is
// computed from (a cast, a scale) is computed inside.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

// Choices that a plan may lack: steps of a warp that are on their way together, and that blocks go from tile to tile.
inline constexpr llvm::StringLiteral kTurnsOfWarp = "turns", kRing = "ring";

class Skinny : public Strategy {
public:
  llvm::StringRef name() const override { return "skinny"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  std::vector<TileChoice> choices(const KernelFunction &kernel, const GroupShape &shape,
                                  const abi::TargetArch &target) const override;
  std::vector<Plan> plansWith(const KernelFunction &kernel, const GroupShape &shape,
                              llvm::ArrayRef<GivenChoice> given) const override;
  std::optional<TileChoice> choiceOf(const KernelFunction &kernel, const GroupShape &shape, const Plan &plan,
                                     const abi::TargetArch &target) const override;
  bool takes(llvm::StringRef choice, int64_t value) const override;
  llvm::StringRef whyNot(const KernelFunction &kernel) const override;
  void write(Writer &writer) const override;
  unsigned variantFor(const abi::TargetArch &target) const override {
    return target.number >= 80 ? 2 : target.number >= 75;
  }
};

} // namespace tenon::compiler::codegen
