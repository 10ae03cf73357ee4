// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of bf16 as polynomials. A result of bf16 has 8 bits, so that few terms are enough: f(x) = t P(t^2 - k),
// where t is x, or from where on f is 1 in bf16, that end with x's sign. Coefficients were found as those whose values
// lie as far inside of the intervals that are rounded to the right number as can be (a linear program over all numbers
// below the end); with all of 65536 numbers the result is f, rounded once. (libdevice's functions of f32 choose between
// two forms by a branch for each element, which no other element's instructions pass.)
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::codegen {

/// Divisions of bf16 are `div.full`, which is off by at most two units in the last place of an f32 and has no branch. A
/// quotient of two numbers of 8 bits is nearer to none that lies between two bf16 than 2^-17 of itself, so that it is
/// rounded as an exact one; below 2^-126, where there are fewer bits, one that lies there exactly may be rounded up or
/// down.
void addNarrowDivisions(mlir::RewritePatternSet &patterns);

/// math.erf and math.tanh of bf16, and of f32 that was widened from bf16 where all that is made of it is rounded to
/// bf16.
void addNarrowFunctions(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::codegen
