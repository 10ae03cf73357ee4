// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that do not name every parallel loop of their operation: how many elements each window of an average has,
// counted beside the averages of every image.
//
//   outs(%sum, %count : tensor<2x8x5x7xf32>, tensor<5x7xf32>)      (n, c, i, j, p, q) -> (n, c, i, j), (i, j)
//
// Each is written over and over again. Where the written value is the same whatever the loops that it does not name are
// at, it is an operation of its own without those loops.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// What depends on a loop that it does not name stays, and is refused later: loops that are parallel have no last step.
void splitLesserResults(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
