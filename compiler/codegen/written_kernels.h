// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel functions as strategies write them, the LLVM dialect with arith, math and scf inside, and from there to the
// LLVM dialect alone. Only the first step asks for the target.
#pragma once

#include "compiler/codegen/ptx/emit_ptx.h"

#include "mlir/IR/OwningOpRef.h"

namespace tenon::compiler::codegen {

/// A module with every kernel function of `kernels` as its strategy writes it for `target`. `kernels` is only read.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> writeKernels(mlir::ModuleOp kernels, const abi::TargetArch &target,
                                                                const PtxOptions &options);

/// Converts what was written, for whichever target, to the LLVM dialect, ready for emitPtx.
mlir::LogicalResult lowerWritten(mlir::ModuleOp written, const PtxOptions &options);

} // namespace tenon::compiler::codegen
