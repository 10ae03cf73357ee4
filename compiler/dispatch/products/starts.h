// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product that starts from something computed, such as a bias for each column in a tensor of its whole size:
//
//   %bias = linalg.broadcast ...                 nobody stores it: the sum starts from zero,
//   linalg.matmul ... outs(%bias)                and the bias is added behind
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

void addStartsBehind(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
