// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel is passed, as values at its start: pointers, scalars and sizes.
#pragma once

#include "abi/parameter_layout.h"
#include "compiler/codegen/kernel/kernel_function.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace tenon::compiler::codegen {

struct KernelArguments {
  mlir::IRMapping scalars;                                  // of the kernel function, and what it computes from them
  llvm::SmallVector<mlir::Value> pointers;                  // [bindings]
  llvm::SmallVector<mlir::Value> tensorMaps;                // pointers to them, in the order of the layout
  llvm::SmallDenseSet<uint32_t> written;                    // bindings of results, and of what they are written over
  llvm::DenseMap<mlir::Value, mlir::Value> sizes;           // i64, for each value of the function that is an extent
  llvm::DenseMap<mlir::Attribute, mlir::Value> reciprocals; // of sizes, by what they are made of (reciprocal.h)

  mlir::Value sizeOf(mlir::OpBuilder &b, mlir::Location loc, const Extent &extent) const;
};

/// Loads what stands in structs and repeats the function's arithmetic on scalars, at `b`'s insertion point.
KernelArguments mapArguments(const KernelFunction &kernel, const abi::ParameterLayout &parameters,
                             mlir::LLVM::LLVMFuncOp function, mlir::OpBuilder &b);

/// An operation on scalars, its results entered into `values`. Operations of `math` remember their name in their
/// location: the error about a missing libdevice quotes it.
void copyScalarOp(mlir::OpBuilder &b, mlir::Operation &inner, mlir::IRMapping &values);

} // namespace tenon::compiler::codegen
