// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a group of linalg operations of a host function to a kernel function (the form that
// codegen/kernel/kernel_function.h reads) and what a dispatch of it passes.
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/splits/split_reductions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tenon::compiler::dispatch {

struct OutlinedKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module; // holds the kernel function alone
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> results;  // of the group, in the order of the function's results
  llvm::SmallVector<mlir::Value> workload; // index: the sizes that are not known, as the first scalars
  llvm::SmallVector<mlir::Value> scalars;  // sizes as i64, then the other scalars
  llvm::SmallVector<mlir::Value> tensors;
  llvm::SmallVector<mlir::Value> tensorDims; // index, dynamic dimensions of the tensors, flat
  llvm::SmallVector<mlir::Value> resultDims; // index, of the results, flat
};

/// What a kernel function takes, and where it stands among its arguments.
struct KernelInputs {
  llvm::SmallMapVector<mlir::Value, int64_t, 4> sizes;                      // index value -> argument
  llvm::SmallMapVector<mlir::Value, int64_t, 4> scalars;                    // scalar -> argument, after the sizes
  llvm::SetVector<mlir::Operation *> constants;                             // repeated in the kernel
  llvm::SmallMapVector<mlir::Value, llvm::SmallVector<int64_t>, 4> tensors; // tensor -> positions of its sizes
};

/// Makes the module and the function of `kernel`, whose results are known, and opens its body: `b` writes into it.
/// @return what the inputs are inside
mlir::IRMapping openKernel(OutlinedKernel &kernel, KernelInputs &inputs, mlir::Location loc, mlir::StringRef name,
                           mlir::OpBuilder &b);
/// What a dispatch of it passes; `host` writes where it stands.
void passInputs(OutlinedKernel &kernel, const KernelInputs &inputs, mlir::Location loc, mlir::OpBuilder &host);

/// Outlines the group, which stays where it is. Values that the dispatch needs are created before its last operation.
/// @param name of the kernel function
/// @param condition where it does not always run
mlir::FailureOr<OutlinedKernel> outlineKernel(const Group &group, mlir::StringRef name,
                                              const std::optional<StaysWhole> &condition = std::nullopt);

} // namespace tenon::compiler::dispatch
