// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that a body looks up where its loops are, as importers write a mask that is indexed by numbers of rows and
// keys:
//
//   %i = linalg.index 0    %k = index_cast %i    %n = %k < 0 ? %k + 8 : %k    tensor.extract %mask[%n, ..]
//
// become operands: threads read them in vectors, and each element once for all loops that do not move it.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::dispatch {

/// The index of a loop is no less than 0, and less than what it runs over.
void addRangesOfLoops(mlir::RewritePatternSet &patterns);
/// That, and what is read at loops of the same size is an operand.
void addLoopReads(mlir::RewritePatternSet &patterns);

} // namespace tenon::compiler::dispatch
