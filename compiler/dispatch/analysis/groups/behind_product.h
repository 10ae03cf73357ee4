// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed from each result of a product: its kernel can compute it, and stores that instead of the sums.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Whether `op` computes each of its elements from one of a product, or a window's sum, that nobody else reads, or from
/// what others make of it one after the other. No product is an attention's.
bool isBehindProduct(mlir::linalg::GenericOp op);
/// Whether it is, and has narrower elements than what it reads of it: who computes it stores fewer bytes.
bool narrowsProduct(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
