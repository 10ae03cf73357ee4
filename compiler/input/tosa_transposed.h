// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.transpose_conv2d where MLIR has no conversion.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::input {

/// Adds the pattern that reads transposed convolutions of unknown sizes, and of weights that have another type.
void addTransposedPatterns(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::input
