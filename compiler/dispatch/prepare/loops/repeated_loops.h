// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reshapes that fold dimensions along which a tensor is only repeated. Importers repeat the weights of a layer for each
// of its inputs, and then name the inputs by one number:
//
//   %w4 = linalg.generic ins(%w : tensor<384x1536xbf16>) -> tensor<32x14x384x1536xbf16>     (a, b, k, n) -> (k, n)
//   %w3 = tensor.collapse_shape %w4 [[0, 1], [2], [3]] into tensor<448x384x1536xbf16>
//
// become a repetition along one loop, which the product that reads it sees through: its inputs are more rows of one
// product, and nothing is copied.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

void foldRepeatedLoops(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
