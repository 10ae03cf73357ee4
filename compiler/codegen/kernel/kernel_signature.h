// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The signature of a kernel function: its launch, its arguments and the pointers of its results.
#pragma once

#include "compiler/codegen/kernel/kernel_function.h"

namespace tenon::compiler::codegen {

/// Sizes of a tensor from its type and its `tenon.dims`.
mlir::FailureOr<llvm::SmallVector<Extent>> readShape(mlir::func::FuncOp function, mlir::RankedTensorType type,
                                                     mlir::Attribute dims);

// Each reads its part of `kernel.function` into `kernel`, in this order, or says at the function what is wrong.

/// Threads, elements a thread; the workgroup of a fallback. The operations are known.
mlir::LogicalResult readLaunch(KernelFunction &kernel);
mlir::LogicalResult readArguments(KernelFunction &kernel);
/// A pointer per tensor argument, then one per result of the function that takes no argument's memory.
/// Returns: [results of the function] the binding of each
mlir::FailureOr<llvm::SmallVector<uint32_t>> readResultBindings(KernelFunction &kernel);
mlir::LogicalResult readConstants(KernelFunction &kernel);

} // namespace tenon::compiler::codegen
