// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fast math, where it is asked for: what CUDA calls --use_fast_math. Division, square root and the functions of
// libdevice may be approximate, products and sums contract wherever they meet, denormal f32 values become zero. Not
// among it: sums keep their order, and infinities and NaNs their meaning, since masks are written with them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// Allows every operation of arith and math in `module` to be computed fast. Before they are lowered.
void allowFastMath(mlir::ModuleOp module);

/// Every function of `device` takes and makes no denormal f32 value. Behind the linking of libdevice.
void flushDenormals(llvm::Module &device);

} // namespace tenon::compiler::codegen
