// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What moves no bytes of a tensor: its memory under another shape or type, memory that nothing is in yet, and its
// sizes. Sizes are registers. What a shape promises and the compiler cannot see becomes a check of the call.
#pragma once

#include "compiler/host/function_state.h"

namespace tenon::compiler::host {

/// @param op tensor.dim, empty, cast, expand_shape or collapse_shape, flow.tensor.tie_shape, bitcast or reshape, or
/// util.optimization_barrier
mlir::LogicalResult lowerShape(mlir::Operation *op, FunctionState &state);

} // namespace tenon::compiler::host
