// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors that are computed from weights of few bits, one for each of them, in products of many rows. Every tile of
// columns computes them again for each tile of rows. On Hopper that costs nothing that is seen: a warpgroup does
// nothing else, ahead of those that multiply (codegen/contraction/operands/computed_tile.h), and memory is read for few
// bits of each factor. Elsewhere a kernel before stores them.
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

namespace tenon::compiler::dispatch {

/// Reduced elements that a tile takes at once: rows of 128 bytes.
inline constexpr int64_t kStepOfTiles = 64;
/// Of more rows, each tile of which computes the weights again, a kernel before stores them.
inline constexpr int64_t kMostRowsOfTiles = 1024;
/// Whether tiles of the product would compute such a factor: code is made for sm_90a alone, and the factors are f16 or
/// bf16, whole steps of them.
bool mayTilesCompute(const Contraction &product);
/// Whether each element of the operation's result is computed from a byte, or a part of it, and from what many have in
/// common, such as a scale.
bool isWeightOfFewBits(mlir::linalg::GenericOp op);
/// Whether a side of the product is computed from weights of few bits, inside of its body or by operations before it.
bool isOfFewBits(const Contraction &product, const ContractionSide &side);

} // namespace tenon::compiler::dispatch
