// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions that the host evaluates before a launch: count regions, conditions. They are straight-line index and integer
// arithmetic, because they become a few register operations of the program (abi/format/schemas/program.fbs).
#pragma once

#include "mlir/IR/Operation.h"

namespace tenon::compiler {

/// Whether the host can evaluate this operation: integer arithmetic of `arith` and `affine` on index or integers of at
/// most 64 bits.
bool isHostEvaluable(mlir::Operation *op);

/// Checks a region of `op` that is called `what`: one block; a !hal.device and then, if `workload`, index arguments;
/// operations that the host can evaluate (or hal.device.query, which only some forms take); hal.return of `results`.
mlir::LogicalResult verifyHostRegion(mlir::Operation *op, mlir::Region &region, llvm::StringRef what, bool workload,
                                     mlir::TypeRange results);

} // namespace tenon::compiler
