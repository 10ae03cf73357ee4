// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction to few results has too few blocks for a GPU: the sum of 2^28 elements would be one block's work. It is
// taken apart into two reductions, the first to many partial results:
//
//   sum over r of x[p, r]      x seen as [p, s, c], r = s * C + c
//   -> partial[p, s] = sum over c of x[p, s, c]
//      sum over s of partial[p, s]
//
// The number of parts depends on the shape alone, so results do not depend on the device or the run.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

/// On operations that are to be taken apart, and are in another form of their group that stays whole.
inline constexpr llvm::StringLiteral kPartsAttr = "tenon.parts";

/// Whether tiles, or blocks of few rows, compute it as a product.
bool isTiledProduct(mlir::linalg::GenericOp op);
/// Whether sizes decide if the operation is taken apart, and are not known.
bool mayBecomeParts(mlir::linalg::GenericOp op);

/// When a sum of unknown size stays whole.
struct StaysWhole {
  mlir::Value condition;                          // i1
  std::optional<int64_t> longest;                 // elements of a row then, where that is limited
  std::optional<int64_t> shortest = std::nullopt; // 0 where nothing is said
};
/// Of an operation that may become parts; computed by the builder.
StaysWhole staysWhole(mlir::OpBuilder &b, mlir::linalg::GenericOp op);

/// Splits the reductions of `function` that need it: of known sizes, by combiners (reduction_body.h).
void splitReductions(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
