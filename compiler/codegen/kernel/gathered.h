// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements that a body reads by itself (tensor.extract), at any place of a tensor: gathers, slices at computed places,
// pads.
#pragma once

#include "compiler/codegen/kernel/kernel_arguments.h"
#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

/// The element at `indices` (i64). A tensor whose sizes are not known may be empty: then there is nothing to read, and
/// what is read instead is 0. Who reads it has said that it does not look at it (a pad of nothing).
mlir::Value loadGathered(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                         llvm::ArrayRef<mlir::Value> indices);

/// A truth value takes a byte in memory.
mlir::Type memoryType(mlir::Type element);
mlir::Value loadElement(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                        mlir::Value element);

} // namespace tenon::compiler::codegen
