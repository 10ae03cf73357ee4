// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of tensors in memory: one, adjacent ones whose alignment is known only when the kernel runs, and those that
// a body reads by itself (tensor.extract) at any place: gathers, slices at computed places, pads.
#pragma once

#include "compiler/codegen/kernel/kernel_arguments.h"
#include "compiler/codegen/kernel/kernel_builder.h"
#include "compiler/codegen/kernel/lanes.h"

namespace tenon::compiler::codegen {

/// A truth value takes a byte in memory.
mlir::Type memoryType(mlir::Type element);
mlir::Value fromMemory(KernelBuilder &k, mlir::Value value, mlir::Type element);
mlir::Value toMemory(KernelBuilder &k, mlir::Value value, mlir::Type element);

mlir::Value loadElement(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                        mlir::Value element);
/// `width` adjacent elements from number `first` on: one access where their address is a multiple of what they measure,
/// else one for each. The test costs a few instructions, and threads of a warp mostly agree. `isVector`: the tensor is
/// no longer than a row, which a cache has; narrow elements of one are taken out of the vectors that hold them
/// (straddling.h).
llvm::SmallVector<mlir::Value> loadRun(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                                       mlir::Value first, unsigned width, bool isStreamed, bool isVector = false);
void storeRun(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, mlir::Value first,
              mlir::ValueRange values);
/// As loadRun() and storeRun(), of elements that are known to be aligned.
llvm::SmallVector<mlir::Value> loadAligned(KernelBuilder &k, const KernelArguments &arguments,
                                           const KernelTensor &tensor, mlir::Value first, unsigned width,
                                           bool isStreamed);
void storeAligned(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, mlir::Value first,
                  mlir::ValueRange values);

/// The elements at `indices` (i64), one for each lane. Adjacent ones are one access where the indices of all dimensions
/// but the last are the same and those of the last are a run; a clamped run is one where its ends are far enough apart.
///
/// A tensor whose sizes are not known may be empty: then there is nothing to read, and what is read instead is 0. Who
/// reads it has said that it does not look at it (a pad of nothing).
/// @param isAligned runs are known to be
/// @param isThere whoever reads it knows that there is something to read
/// @param doubts a clamped run that is none is not read, and one of them (i1) is true
Lanes loadGathered(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                   llvm::ArrayRef<Lanes> indices, unsigned width, bool isStreamed, bool isAligned = false,
                   llvm::SmallVector<mlir::Value> *doubts = nullptr, bool isThere = false);

/// What a loop of a body reads by itself, in a copy of it that is in the kernel: each tensor.extract becomes a load.
void loadInLoop(KernelBuilder &k, const KernelFunction &kernel, const KernelArguments &arguments,
                mlir::Operation *loop);

} // namespace tenon::compiler::codegen
