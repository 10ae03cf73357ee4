// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the kernels of Columns: threads walk down the reduced axes, and see each element once; or each keeps a few
// rows in registers, where later sums, or elements that are stored, know earlier sums.
#pragma once

#include "compiler/codegen/kernel/bodies/one_pass.h"
#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

/// The sums that know others, where they need no pass of their own. Nothing where the group takes more than one pass.
std::optional<llvm::SmallVector<OnePassSum>> sumsOfOnePass(const KernelFunction &kernel, const GroupShape &shape);

void writeColumns(Writer &writer);

} // namespace tenon::compiler::codegen
