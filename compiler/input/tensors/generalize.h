// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What computes becomes linalg.generic, one form that whoever looks at loops and bodies has to know.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::input {

/// tensor.splat becomes linalg.fill.
void addSplatPatterns(mlir::RewritePatternSet &patterns);
/// Named operations of linalg on tensors become linalg.generic.
/// @param keepsFill but for linalg.fill, which reads best as the start of a reduction
void addNamedPatterns(mlir::RewritePatternSet &patterns, bool keepsFill);

} // namespace tenon::compiler::input
