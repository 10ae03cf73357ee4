// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that are only widened, from f16 to f32 for a norm, say: whoever reads them had better read the narrow ones.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// A reshape of a widened tensor, read by reductions and elementwise operations alone, widens a reshaped one:
///
///   %w = extf %x : f16 to f32;  %r = reshape %w    ->    %s = reshape %x;  %r = extf %s : f16 to f32
///
/// so that the kernel in front of the reshape does not store both. Of known sizes.
void widenBehindReshapes(mlir::func::FuncOp function);

/// Each reader of what was only widened has its own, and widens what it reads: that is less to read, and nothing to
/// store. What a product or a window reads is left to their rules (fusing.h).
void splitWidenings(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
