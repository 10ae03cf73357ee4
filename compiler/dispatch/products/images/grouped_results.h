// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed from each result of a convolution in groups of few channels. Importers write the convolution with
// its groups as a dimension, and what is behind it, a norm and an activation, without:
//
//   conv [n, g, f, y, x] -> reshape [n, c, y, x] -> norm, relu
//
// The reshape between them is nothing but names of places, yet the two would not be one kernel. So what is behind gets
// the groups as a dimension, too, and the reshape is behind that.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// @return whether there was any.
bool expandGroupedResults(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
