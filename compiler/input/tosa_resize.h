// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tosa.resize where MLIR's own conversion is wrong.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::input {

/// Adds the pattern that reads bilinear resizes of floats of 16 bits, and those whose first places lie in front of the
/// image, as those of half pixels do.
void addResizePatterns(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::input
