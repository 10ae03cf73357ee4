// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The signature of a kernel: what abi::computeParameterLayout says, as parameters of an `llvm.func`.
//
//   binding, hidden pointer     a pointer to global memory
//   scalar constant             its value: an i1 as a byte, an index as an i64
//   struct, tensor map          a pointer to its bytes (`byval`), which are the parameter: .param .align 8 .b8 p[24];
//                               what stands in it is loaded from there
#pragma once

#include "abi/parameter_layout.h"
#include "compiler/codegen/kernel/kernel_function.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace tenon::compiler::codegen {

/// A scalar as it is passed.
mlir::Type parameterType(mlir::Type scalar);

/// The kernel's parameters as its export declares them; where the compiler declares it, a pointer for each binding and
/// a constant for each scalar argument. An error at the function where no kernel can take them.
mlir::FailureOr<abi::ParameterLayout> parametersOf(const KernelFunction &kernel);

/// The empty kernel, at the end of `module`. Results of a dispatch that the compiler formed are buffers of their own;
/// what a fallback is launched with may overlap as it may for the hand-written kernel.
mlir::LLVM::LLVMFuncOp createKernel(const KernelFunction &kernel, const abi::ParameterLayout &parameters,
                                    mlir::StringRef name, mlir::ModuleOp module);

} // namespace tenon::compiler::codegen
