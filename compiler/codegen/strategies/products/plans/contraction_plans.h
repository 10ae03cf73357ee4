// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plans of a contraction, as the models choose them: one kernel's, or those of several kernels whose guards say
// which of them runs.
#pragma once

#include "compiler/codegen/strategies/products/plans/tile_plan.h"

namespace tenon::compiler::codegen {

/// The kernels that the model chooses; none: the group is no contraction.
/// @param name of the strategy
std::vector<Plan> contractionPlans(llvm::StringRef name, const KernelFunction &kernel, const GroupShape &shape);

} // namespace tenon::compiler::codegen
