// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equal values of a function become one, by MLIR's elimination of common subexpressions. It compares operations whose
// hashes are equal, and a hash knows an operation's operands, not the tensors that its body reads: a thousand
// concatenations of one shape have the same, and each is compared with all the others. So while it runs, each operation
// bears a number that says what its body reads.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

void shareEqualValues(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
