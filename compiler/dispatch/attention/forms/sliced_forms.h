// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries, keys and values that lie side by side in one tensor, and are taken apart before heads are:
//
//   %q = tensor.extract_slice %qkv [0, 0, 0] [2, 4096, 320]      // of 2x4096x960
//   %h = tensor.expand_shape %q [[0], [1], [2, 3]]               // 2x4096x4x80
//
// Here the tensor is divided and the slices are taken of that, 2x4096x3x4x80: a reshape costs nothing, and what is
// nothing but a slice is read where it lies, where the other way around each would be a copy.
#pragma once

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::dispatch {

void addSlicedForms(mlir::RewritePatternSet &patterns);
/// Whether a tensor is divided for slices of it alone: whoever computes it need not know.
bool isDividedForSlices(mlir::tensor::ExpandShapeOp expand);

} // namespace tenon::compiler::dispatch
