// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel functions to PTX: read, emitted and converted once; then optimised and printed per target (ptx/emit_ptx.h).
#pragma once

#include "compiler/codegen/ptx/emit_ptx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::compiler::codegen {

/// Targets for which it is the same number get the same kernels from lowerKernels.
unsigned kernelVariantFor(mlir::ModuleOp kernels, const abi::TargetArch &target);

/// A module with every kernel function of `kernels` in the LLVM dialect, ready for emitPtx with the same target, or one
/// of the same variant, and the same options. `kernels` is only read.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerKernels(mlir::ModuleOp kernels, const abi::TargetArch &target,
                                                                const PtxOptions &options);

/// `options`, with which what lowerKernels made becomes PTX for `target`, whichever other targets there are.
PtxOptions ptxOptionsFor(mlir::ModuleOp lowered, const abi::TargetArch &target, PtxOptions options);

/// What lowerKernels and emitPtx need registered in the context.
void registerKernelDialects(mlir::DialectRegistry &registry);

} // namespace tenon::compiler::codegen
