// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations that keep a number on one side of a constant, as importers write them:
//
//   %c = arith.cmpf ugt, %x, %zero      %r = arith.select %c, %x, %zero       (a relu)
//
// are one instruction that takes the larger or the smaller number, not a comparison and a choice. It is the same
// number, bit for bit, but for what NaN it is: of +0 and -0, which a comparison takes for equal, the instruction takes
// +0 for the larger one, so a constant of zero may stop it here. LLVM's back end takes the instruction for some of
// those all the same: then the sign of a zero may be the other one. Where x is no number, an ordered comparison chooses
// the constant (maxnum), and an unordered one x (maximum).
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::codegen {

void addClamps(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::codegen
