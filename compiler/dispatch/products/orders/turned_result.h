// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product whose result has its dimensions in another order than the program wants, and is turned behind:
//
//   result[n, c, y, x] = sum ...    ->    other[n, y, x, c] = sum ...
//                                         result = transpose(other)
//
// What is computed from each element alone, such as a rounding to bf16, is computed before it is turned.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Whether the operation computes each element from elements at the same place.
bool isSamePlace(mlir::linalg::GenericOp op);

/// The order of dimensions with one of them last.
llvm::SmallVector<int64_t> lastOrder(unsigned rank, unsigned dimension);

/// `values` in that order.
template <typename T> llvm::SmallVector<T> inOrder(llvm::ArrayRef<T> values, llvm::ArrayRef<int64_t> order) {
  return llvm::to_vector(llvm::map_range(order, [&](int64_t from) { return values[from]; }));
}

/// Of an operation with one result that starts from a number (linalg.fill).
void turnResult(mlir::linalg::GenericOp op, llvm::ArrayRef<int64_t> order);

} // namespace tenon::compiler::dispatch
