// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products whose rows are several dimensions, stored by the left side in another order than by the result, or not side
// by side. Tiles of such rows are no boxes, and threads copy them row by row. In PyTorch's nn.MultiheadAttention of
// sequences that are not first, with tokens t, sequences b and heads h:
//
//   %qkv = product(%x[b, t, k], %w[p, n, k])      -> tensor<3 x t x b x n>      rows (t, b)
//   %a   = attention(%qkv)                        -> tensor<b x h x t x d>
//   %y   = product(%a[b, h, t, d], %v[n, h, d])   -> tensor<b x t x n>          rows (t, b)
//
// What is stored between kernels, whoever reads it may read in any order that leaves neighbours where they are. So the
// result of a product has its rows as its left side has them, in front of its columns, and an attention's result those
// of the product that reads it, in front of what that sums over:
//
//   %qkv -> tensor<b x t x 3 x n>      %a -> tensor<b x t x h x d>
//
// Rows are one dimension of both sides then.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

void orderRows(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
