// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of f32 that may be rounded to tf32, where code is made for Hopper alone. Its warpgroups read one side as it
// lies across, from registers, the other one along the reduced elements (`warpgroup_registers` of codegen/contraction).
// What multiplies them elsewhere wants both along, and is ten times as slow where they are not.
#pragma once

#include "compiler/dispatch/analysis/contraction.h"

namespace tenon::compiler::dispatch {

/// Of more rows tiles are faster than who has each element of the other side in a register once, without tensor cores.
inline constexpr int64_t kMostFewOfTf32 = 8;

/// Whether operations may be such products where their factors are f32.
bool hasHopperTf32(mlir::Operation *op);
bool isHopperTf32(const Contraction &product);
/// Whether a side of such a product lies across.
bool liesAcross(const Contraction &product, const ContractionSide &side);

} // namespace tenon::compiler::dispatch
