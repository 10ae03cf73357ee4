// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places of an image that lie side by side wherever a product of its channels reads or writes them are one dimension:
//
//   result[n, f, y, x] = sum over c of image[n, c, y, x] * filters[f, c]
//
// of 56 x 56 places has rows of 112 bytes, which are no boxes of a tensor map; those of 3136 places are. Of 28 x 28
// they are none either way, but rows of 784 places begin where vectors do.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Of products that tensor cores multiply as they lie, of 16 bits, and of tf32 on Hopper alone, with what is computed
/// element by element behind them; tensors are reshaped around both.
void joinPlaces(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
