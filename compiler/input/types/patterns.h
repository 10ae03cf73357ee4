// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites of tenon-lower-types (Passes.td): arithmetic on types that kernels do not hold becomes arithmetic on such
// that they do.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::input {

/// Floats of 8 bits are widened to f32 before an operation and rounded behind it.
void addSmallFloatPatterns(mlir::RewritePatternSet &patterns);
/// i2, i4, i24, ..: extended before an operation, truncated behind it.
void addNarrowIntegerPatterns(mlir::RewritePatternSet &patterns);
/// The dialect complex: two floats for each number, within `root`.
mlir::LogicalResult lowerComplexNumbers(mlir::Operation *root);

} // namespace tenon::compiler::input
