// One kernel function to PTX: read it, emit it, convert it once; then optimise and print it per target.
#pragma once

#include "compiler/codegen/ptx/emit_ptx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::compiler::codegen {

/// A module of its own with the kernel in the LLVM dialect, ready for emitPtx. `function` is only read.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerKernel(mlir::func::FuncOp function);

/// What lowerKernel and emitPtx need registered in the context.
void registerKernelDialects(mlir::DialectRegistry &registry);

} // namespace tenon::compiler::codegen
