// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an operation is computed from: of a chain with two results (attention/twins.h) each operation behind a last
// product belongs to one of them; what is computed from each result of a product can be part of its kernel.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Whether `op` is `other`, or computes from a result of it; what is not `inside` is not looked through.
bool isComputedFrom(mlir::linalg::GenericOp op, mlir::linalg::GenericOp other,
                    llvm::function_ref<bool(mlir::Operation *)> inside);

/// Whether `op` computes each of its elements from one of a product, or a window's sum, that nobody else reads, or from
/// what others make of it one after the other. No product is an attention's.
bool isBehindProduct(mlir::linalg::GenericOp op);
/// Whether it is, and has narrower elements than what it reads of it: who computes it stores fewer bytes.
bool narrowsProduct(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
