// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dimensions of one that an operation names by the number 0 instead of a loop: heads of a mask that all heads share, or
// the dimension that a reduction was to keep.
//
//   ins(%x, %mask : tensor<2x4x8x16xf32>, tensor<2x1x8x16xi1>)     (b, h, m, n) -> (b, 0, m, n)
//   outs(%start : tensor<2x4x8x1xf32>)                             (b, h, m, n) -> (b, h, m, 0)
//
// Without them every index is a loop: the dimension becomes part of one beside it, and comes back behind a result.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Of what operations read.
void dropUnitDimensionsOfInputs(mlir::func::FuncOp function);
/// Of what they compute. A product of filters and images of one place is one of matrices, without loops over places.
void dropUnitDimensionsOfResults(mlir::func::FuncOp function);
/// Dimensions of one that a reshape adds, whatever else it does, go behind the elementwise operations that read them:
/// the root of a mean that kept its dimension is one of a vector, and part of the kernel that takes the mean. Those
/// that a reshape takes away go in front of the operations that compute them: a gather of rows, each of which is one of
/// a list.
void moveUnitDimensions(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
