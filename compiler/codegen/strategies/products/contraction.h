// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions (dispatch/analysis/products/contraction.h) and what is computed from each element of their results:
// a tile to a block, by the best instructions of the target (codegen/contraction).
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class Contraction : public Strategy {
public:
  llvm::StringRef name() const override { return "contraction"; }
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
  uint32_t threadsFor(const KernelFunction &kernel, const abi::TargetArch &target) const override;
  unsigned variantFor(const abi::TargetArch &target) const override;
  /// Products of f32 are.
  bool isWrittenForAny(mlir::func::FuncOp function, const abi::TargetArch &target) const override;
};

/// Whether the target gets what any target without instructions for the product would: single multiplications, by
/// blocks that share nothing.
bool isWrittenForAny(const KernelFunction &kernel, const abi::TargetArch &target);

} // namespace tenon::compiler::codegen
