// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reshapes that take dimensions together and divide them again. Front ends that have one product of matrices make rows
// of everything, and heads of rows again:
//
//   4x1x32x8 -> 1024 -> 4x4x8x8          the dimension of 1024 says nothing of heads
//
// Where both ends agree on some dimensions, these stay, and only what lies between them is taken together or divided:
//
//   4x1x32x8 -> 4x32x8 -> 4x4x8x8
//
// so that a reshape goes in front of what computes the tensor, or behind what reads it.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::dispatch {

/// Of tensors of known sizes.
void addMetReshapes(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::dispatch
