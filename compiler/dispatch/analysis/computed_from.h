// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an operation of a group is computed from: of a chain with two results (attention/chains/twins.h) each operation
// behind a last product belongs to one of them.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Whether `op` is `other`, or computes from a result of it; what is not `inside` is not looked through.
bool isComputedFrom(mlir::linalg::GenericOp op, mlir::linalg::GenericOp other,
                    llvm::function_ref<bool(mlir::Operation *)> inside);

} // namespace tenon::compiler::dispatch
