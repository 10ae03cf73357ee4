// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.cast from floats, where MLIR's own conversion is wrong or has none.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::input {

/// Adds the pattern that reads casts of floats to integers, and between floats of which neither holds the other.
void addCastPatterns(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::input
