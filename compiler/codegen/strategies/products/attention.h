// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention: two products with a softmax between, in one kernel that stores no score (codegen/attention).
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

/// Choices of attentions: of a kernel whose blocks leave so many parts of a tile's keys, and of that behind it, which
/// adds them up; of both, how many warpgroups have the queries of a tile, where these do.
inline constexpr llvm::StringLiteral kKeyParts = "key_parts", kAddsParts = "adds_parts", kTileConsumers = "consumers";

class AttentionStrategy : public Strategy {
public:
  llvm::StringRef name() const override { return "attention"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  bool takes(llvm::StringRef choice, int64_t value) const override;
  void write(Writer &writer) const override;
  uint32_t threadsFor(const KernelFunction &kernel, const abi::TargetArch &target) const override;
  unsigned variantFor(const abi::TargetArch &target) const override;
};

} // namespace tenon::compiler::codegen
