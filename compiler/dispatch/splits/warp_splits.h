// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of matrix products in parts, in programs whose targets are all sm_80 or later, none of them sm_90a: where tiles
// are few, each multiprocessor gets a part, and a kernel behind adds the parts up. A model of such tiles says how many
// parts there are (analysis/products/warp_tiles.h).
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/splits/known_split.h"

namespace tenon::compiler::dispatch {

/// Whether a product of known sizes gets its tile by that model, as far as the operation alone tells: its kernel's plan
/// decides (codegen/strategies/products/plans/warp_plans.h).
bool isSplitByWarpModel(mlir::linalg::GenericOp op, const Contraction &product);
/// The parts of such a product; nothing: it is done sooner without.
std::optional<Split> warpSplitOf(mlir::linalg::GenericOp op, const Contraction &product);

} // namespace tenon::compiler::dispatch
