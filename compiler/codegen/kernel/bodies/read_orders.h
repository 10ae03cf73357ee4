// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How elements lie that bodies read by place (tensor.extract): the parts of a concatenation, what is inside of a pad, a
// slice. Known before anything is written, as GroupShape::along() is of tensors that a map indexes.
#pragma once

#include "compiler/codegen/kernel/bodies/group_shape.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::codegen {

/// Along the axis, those that one read names: neighbours are side by side, from wherever the body says, perhaps clamped
/// to the ends of the tensor (Shifted); the same; or apart.
GroupShape::Along alongOfRead(const KernelFunction &kernel, const GroupShape &shape, mlir::linalg::GenericOp op,
                              mlir::tensor::ExtractOp read, unsigned axis);

/// Of operations that run over all elements, what they read by place side by side along the axis: lanes of 16 bytes of
/// the widest elements; 1: there are none.
uint32_t widthOfReads(const KernelFunction &kernel, const GroupShape &shape, unsigned axis);

} // namespace tenon::compiler::codegen
