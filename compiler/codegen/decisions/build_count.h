// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program computes from the sizes of a launch: how many blocks it takes, none where another kernel runs, and
// the reciprocals that the kernel divides by.
#pragma once

#include "compiler/codegen/plan/plan.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"

namespace tenon::compiler::codegen {

/// Writes count(%device, %sizes...) -> the product of the factors, 1, 1; 0 where a guard does not hold: a launch
/// without blocks is none. Sizes are the kernel's first arguments.
/// Of a function that is conditional, the last one says whether there are any.
void buildCount(hal::ExecutableExportOp exported, mlir::func::FuncOp function, llvm::ArrayRef<GridFactor> grid,
                llvm::ArrayRef<Guard> guards);

/// How many arguments of a dispatch are the kernel's own. Those behind them are the memory of its results: it is a
/// variant, or writes over what others have computed (dispatch/forming/whole_or_parts.h).
size_t ownArguments(flow::DispatchOp dispatch);

/// The kernel takes the reciprocal of every size that it divides positions by (kernel/reciprocal.h), behind its other
/// arguments, and every dispatch passes it.
/// @param asksForSmall also of the numbers of elements (kernel/bodies/small_tensors.h)
void addReciprocals(hal::ExecutableExportOp exported, const KernelFunction &kernel, const GroupShape &shape,
                    bool asksForSmall, llvm::MutableArrayRef<flow::DispatchOp> dispatches);

} // namespace tenon::compiler::codegen
