// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between the products of an attention and has nothing to do with it. Front ends multiply in three
// dimensions and compute softmax in four; they repeat keys for each head that shares them, and turn them:
//
//   %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]]        // heads become part of the batch
//   %k4 = broadcast %k [b, h, n, d] -> [b, h, g, n, d]       // the same keys for each head of a group
//   %s3 = linalg.batch_matmul %q3, %k3
//   %s4 = tensor.expand_shape %s3 [[0, 1], [2], [3]]
//   ... softmax of %s4, collapsed again for the second product
//
// Here products get the dimensions that their readers have, and read the tensor that a copy was made of.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Whether there is something of the kind.
bool hasClosedForms(mlir::func::FuncOp function);
/// The dimensions of this operation stay as they are.
void stayClosed(mlir::linalg::GenericOp op);
/// Of all others of the function, which computes the same behind it.
void openForms(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
