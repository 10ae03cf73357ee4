// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From arith and math operations inside an `llvm.func` to the LLVM dialect. Functions that hardware does exactly become
// intrinsics (square root, rounding, fma, ...); reciprocal square root is a square root and a division; the other
// functions of `math`, and the remainder of floats, become calls of libdevice (`__nv_expf`), which ptx/ links in.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler::codegen {

/// Converts every kernel in `module` in place; afterwards it holds LLVM and NVVM operations only.
mlir::LogicalResult lowerToLlvm(mlir::ModuleOp module);

} // namespace tenon::compiler::codegen
