// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What computes becomes linalg.generic, one form that whoever looks at loops and bodies has to know.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::input {

/// tensor.splat becomes linalg.fill.
void addSplatPatterns(mlir::RewritePatternSet &patterns);
/// Named operations of linalg on tensors become linalg.generic.
/// @param keepsFill but for linalg.fill, which reads best as the start of a reduction
void addNamedPatterns(mlir::RewritePatternSet &patterns, bool keepsFill);

/// MLIR takes x ^ x and x < x for constants, also where x is a tensor of unknown sizes, of which there are none. As
/// linalg.generic they are of elements, before anything folds.
void generalizeFolded(mlir::func::FuncOp function);

} // namespace tenon::compiler::input
