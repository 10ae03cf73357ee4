// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divisions of f16 and bf16 by a constant, which are a dozen instructions and a branch, are products with its
// reciprocal in f32 where all 65536 numbers come to the same in both ways. Roots of such constants are computed here:
// MLIR computes those of f32 and f64 alone.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::dispatch {

void addNarrowDivisions(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::dispatch
