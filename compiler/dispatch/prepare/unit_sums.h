// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over one element of a dimension has no need of it: a convolution with windows of one element is a product of
// matrices then, and its filters are one.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Drops reduced loops of one element where another one stays, and the dimensions of operands that they run over.
void dropUnitSums(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
