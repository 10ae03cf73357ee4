// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a kernel that a strategy computes.
#pragma once

#include "abi/parameter_layout.h"
#include "abi/target_arch.h"
#include "compiler/codegen/kernel/kernel_function.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace tenon::compiler::codegen {

/// Threads of a workgroup of the kernel that the strategy writes for the target. Errors are those of writeKernel.
mlir::FailureOr<uint32_t> threadsFor(const KernelFunction &kernel, const abi::TargetArch &target);

/// Writes `function`, which is empty, by the strategy that the kernel names. An error at the kernel function where
/// there is no such strategy, or where it does not take the group or the choices.
mlir::LogicalResult writeKernel(const KernelFunction &kernel, const abi::ParameterLayout &parameters,
                                const abi::TargetArch &target, mlir::LLVM::LLVMFuncOp function);

} // namespace tenon::compiler::codegen
