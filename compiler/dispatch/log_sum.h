// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logarithm of the sum of exponentials along the last dimension, in one operation (kLogSumExp,
// analysis/groups/group.h): a kernel that computes an attention has it (attention/log_sum_exp.h), and for no other it
// stays one.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// @param hidden of a row all of whose logits are -inf
mlir::linalg::GenericOp createLogSum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value logits, double hidden);

/// Computes it by a maximum, a sum and a logarithm instead.
void openLogSum(mlir::linalg::GenericOp logSum);

} // namespace tenon::compiler::dispatch
