// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of operands of large matrix products (align_products.cpp).
#pragma once

#include "mlir/IR/Operation.h"

namespace tenon::compiler::dispatch {

/// Whether a large product reads a transposed copy here of rows that it had better not read as they are, or a
/// convolution one with its channels last.
bool readsTurnedCopy(mlir::OpOperand &operand);

} // namespace tenon::compiler::dispatch
