// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans of products by mma.sync where all targets of a program have it (dispatch/analysis/products/warp_tiles.h): of
// matrices that lie in memory as they are multiplied, with more tiles than programs for other targets have, and stages
// in shared memory that the launch gives.
#pragma once

#include "compiler/codegen/contraction/kernels/tensor_core_product.h"
#include "compiler/codegen/plan/plan.h"
#include "compiler/dispatch/analysis/products/warp_tiles.h"

namespace tenon::compiler::codegen {

// Choices of a plan: what TensorCoreStages has. None: what static shared memory holds.
inline constexpr llvm::StringLiteral kStages = "stages", kStageBytes = "stage_bytes";
inline constexpr int64_t kMostStages = 16;

/// Whether they compute a product.
bool hasWarpPlan(const Product &product, const dispatch::WarpDevice &device);
/// The stages of a tile: as many as its shared memory holds, beside others of the multiprocessor or alone.
TensorCoreStages stagesOf(const GroupShape &shape, const Product &product, const dispatch::WarpDevice &device,
                          int64_t rows, int64_t columns);
/// The same in a plan with such tiles.
void chooseStages(Plan &plan, const GroupShape &shape, const Product &product, const dispatch::WarpDevice &device);
/// The tile with which a product of known sizes is done first.
const dispatch::WarpTile &bestWarpTile(const GroupShape &shape, const Product &product,
                                       const dispatch::WarpDevice &device);

} // namespace tenon::compiler::codegen
