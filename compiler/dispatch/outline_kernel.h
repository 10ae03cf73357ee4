// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From one linalg operation of a host function to a kernel function of its own (the form that
// codegen/kernel/kernel_function.h reads) and what a dispatch of it passes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::linalg {
class GenericOp;
}

namespace tenon::compiler::dispatch {

struct OutlinedKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module; // holds the kernel function alone
  mlir::func::FuncOp function;
  mlir::Value workload;                   // elements of a result, index
  llvm::SmallVector<mlir::Value> scalars; // sizes as i64, then the other scalars
  llvm::SmallVector<mlir::Value> tensors;
  llvm::SmallVector<mlir::Value> tensorDims; // index, dynamic dimensions of the tensors, flat
  llvm::SmallVector<mlir::Value> resultDims; // index, of the results, flat
};

/// Outlines `op`, which stays where it is. Values that the dispatch needs are created before it.
/// @param name of the kernel function
mlir::FailureOr<OutlinedKernel> outlineKernel(mlir::linalg::GenericOp op, mlir::StringRef name);

} // namespace tenon::compiler::dispatch
