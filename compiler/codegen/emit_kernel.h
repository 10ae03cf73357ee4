// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel function on tensors to a kernel of loads, arithmetic and stores: an `llvm.func` whose body mixes the
// LLVM dialect (addresses, loops) with the arith and math operations of the linalg body, which lower_to_llvm.h
// converts.
//
// Thread t computes elements [t * V, t * V + V) of the first result in row-major order. Adjacent loops that every
// tensor indexes together count as one, so a contiguous elementwise kernel of any rank is a walk along one axis. Two
// paths:
//   whole:  all V elements exist and lie in one row, and every base address is a multiple of the access width, which is
//           tested at run time (a binding may be a sub-range of a buffer): up to 16 bytes at a time;
//   single: one element after the other; ragged ends, rows whose length is no multiple of V, unaligned bases.
// A reduction runs inside its thread, over the reduction loops in order.
#pragma once

#include "abi/target_arch.h"
#include "compiler/codegen/kernel/kernel_function.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace tenon::compiler::codegen {

/// Emits `kernel` as it is for `target` at the end of `module` under `name`.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp> emitKernel(const KernelFunction &kernel, mlir::StringRef name,
                                                   const abi::TargetArch &target, mlir::ModuleOp module);

} // namespace tenon::compiler::codegen
