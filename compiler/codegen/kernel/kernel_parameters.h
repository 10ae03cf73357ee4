// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The signature of a kernel: what abi::computeParameterLayout says, as parameters of an `llvm.func`.
//
//   binding                     a pointer to global memory, in the order of the layout
//   scalar constant             its value: an i1 as a byte, an index as an i64
//   struct, tensor map          a pointer to its bytes (`byval`), which are the parameter: .param .align 8 .b8 p[24]
#pragma once

#include "compiler/codegen/kernel/kernel_function.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace tenon::compiler::codegen {

/// A scalar as it is passed.
mlir::Type parameterType(mlir::Type scalar);

/// The empty kernel, at the end of `module`. Results of a dispatch that the compiler formed are buffers of their own;
/// what a fallback is launched with may overlap as it may for the hand-written kernel.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp> createKernel(const KernelFunction &kernel, mlir::StringRef name,
                                                     mlir::ModuleOp module);

} // namespace tenon::compiler::codegen
