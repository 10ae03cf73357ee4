// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.cast and tosa.mul where MLIR's own conversion, or its folding of constants, is wrong.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::input {

/// Adds the patterns that read casts of floats to integers, of truth values to floats, and between floats of which
/// neither holds the other; and those that widen the factors of products that are wider.
void addCastPatterns(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::input
