// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Largest and smallest floats of a dimension or a window of TOSA.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::input {

/// Adds the patterns that read tosa.reduce_max, tosa.reduce_min and tosa.max_pool2d of floats.
void addExtremePatterns(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::input
