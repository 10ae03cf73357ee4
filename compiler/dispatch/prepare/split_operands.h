// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An elementwise operation that reads hundreds of tensors has more parameters than a kernel may. Its body is cut where
// it has read enough of them: what the first part knows then is stored, and read by the second.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Cuts the operations of `function` that need it.
void splitOperands(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
