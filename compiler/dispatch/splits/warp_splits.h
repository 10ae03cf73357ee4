// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of matrix products in parts, in programs for targets alone whose warps multiply for themselves: where tiles are
// few, parts that a kernel behind adds up give each multiprocessor one. By the model of such tiles
// (analysis/products/warp_tiles.h).
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/splits/known_split.h"

namespace tenon::compiler::dispatch {

/// Whether a product of known sizes gets a tile by that model, as long as it is what its kernel makes of it
/// (codegen/strategies/products/plans/warp_plans.h).
bool mayBeOfWarpTiles(mlir::linalg::GenericOp op, const Contraction &product);
/// The parts of such a product; nothing: it is done sooner without.
std::optional<Split> warpSplitOf(mlir::linalg::GenericOp op, const Contraction &product);

} // namespace tenon::compiler::dispatch
