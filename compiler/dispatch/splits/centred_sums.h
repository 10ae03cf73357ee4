// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of (x - c)^2 where c is made of the sum of x: variances. Seen as two sums, each reads every x. Where the sum is
// taken apart, a part has a mean of its own, a, and both of its sums come from one pass over it
// (codegen/kernel/bodies/one_pass.h):
//
//   sum of (x - c)^2 = over the parts, sum of ((x - a)^2 in the part) + n (a - c)^2        n: elements of a part
//
// That holds for every c, and nothing cancels.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

struct CentredSum {
  mlir::linalg::GenericOp plain; // the sum of x, over the same loops
  mlir::OpOperand *center;       // c, indexed as the result is
  mlir::Value inBody;            // c, in the type of the sum
};

/// Nothing where `op` is no such sum.
std::optional<CentredSum> centredSumOf(mlir::linalg::GenericOp op);

/// How many elements a part has, as a number of the type.
using ElementsOfPart = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Type)>;
/// Means of parts, of their sums.
mlir::Value meansOfParts(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sums, ElementsOfPart elements);
/// A part's sum of squares around its mean becomes that around the center.
mlir::Value movedToCenter(mlir::OpBuilder &b, mlir::Location loc, mlir::Value squares, mlir::Value sum,
                          mlir::Value center, ElementsOfPart elements);

} // namespace tenon::compiler::dispatch
