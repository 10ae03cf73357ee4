// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of unknown sizes compute positions in 64 bits, of which most are never needed: a GPU adds and compares them
// in two instructions, and multiplies them in three or four. So whoever passes a kernel the sizes of its tensors says,
// too, whether each has fewer than 2^31 elements: by the reciprocal of its number of elements (reciprocal.h), which is
// large where the number is not.
#pragma once

#include "compiler/codegen/kernel/bodies/group_shape.h"
#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

/// `tenon.reciprocal` of the numbers of elements that are not known, of all tensors and of what the kernel runs over;
/// nothing where one of them is large for certain, or cannot be passed.
std::optional<llvm::SmallVector<mlir::DenseI64ArrayAttr>> elementKeys(mlir::Builder &b, const KernelFunction &kernel,
                                                                      const GroupShape &shape);

/// Whether positions in all tensors, and up to 2^20 behind them, are below 2^31 (i1); null: the kernel is not told.
mlir::Value areSmall(KernelBuilder &k, const KernelFunction &kernel, const GroupShape &shape,
                     const KernelArguments &arguments);

} // namespace tenon::compiler::codegen
