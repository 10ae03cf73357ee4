// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of f32 that may be rounded to tf32, where code is made for Hopper alone. Its warpgroups read one side as it
// lies across, from registers, the other one along the reduced elements (`warpgroup_registers` of codegen/contraction).
// What multiplies them elsewhere wants both along, and is ten times as slow where they are not.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

// On a module or a kernel function: code is made for sm_90a alone. What a launch gives of shared memory is the same on
// all targets: an attention with depths above 128 takes more on Hopper than others have.
inline constexpr llvm::StringLiteral kHopperOnlyAttr = "tenon.hopper_only";

/// Of more rows tiles are faster than who has each element of the other side in a register once, without tensor cores.
inline constexpr int64_t kMostFewOfTf32 = 4;

/// Whether a product is such a one where its factors are f32.
bool hasHopperTf32(mlir::Operation *op);
/// Whether code is made for Hopper alone.
bool isForHopper(mlir::Operation *op);
/// Whether rows of its operands are known to be multiples of 16 bytes: else there are no boxes, and who has each
/// element of the other side in a register once is faster.
bool hasBoxes(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
