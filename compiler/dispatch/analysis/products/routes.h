// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mixture of experts: each row names the matrix that it is multiplied by.
//
//   result[t, n] = sum over k of x[t, k] * weights[expert[t], k, n]
//
// As a body says it, the weights are read by `tensor.extract` at a place that another input holds. Such a product is
// routed: rows are taken in the order of their experts, so that rows of a tile share a matrix. Which rows these are is
// in a table that one kernel writes (iree_linalg_ext.route) and the product's kernels read. It is an input of the
// product that its body does not look at, and only says in which order tiles are computed.
//
// The table, lines of four i32:
//
//   1 line                tiles of 64 rows, tiles of 128 rows, tiles of 256 rows, 0
//   rows / 64 + experts   a tile of 64: its first position, the position behind its expert's last, expert, 0
//   rows / 128 + experts  the same of tiles of 128
//   rows / 256 + experts  the same of tiles of 256
//   rows / 4 + 1          the row at each position: rows of the first expert in their order, then those of the next
//
// Rows are numbered as the result has them, along all of its dimensions that are no columns. An expert that does not
// exist counts as the last one; what a program reads there is its own affair, as with any `tensor.extract`.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <array>
#include <optional>

namespace tenon::compiler::dispatch {

/// On a linalg.generic: its last input is the table by which it is routed.
inline constexpr llvm::StringLiteral kRoutedAttr = "tenon.routed";

/// The weights, as the body reads them.
struct RoutedWeights {
  mlir::Value tensor;                    // from outside; of sizes that are known
  mlir::Value expert;                    // of the body: an index, computed from `inputs`
  llvm::SmallVector<unsigned, 2> inputs; // of the operation, one at least
  mlir::AffineMap map;                   // loops of the operation -> place; the expert's dimension is 0
  unsigned dimension = 0;                // the expert's
  int64_t experts = 0;
};

/// How `value`, of the body of `op`, reads weights; nothing where it is anything else.
std::optional<RoutedWeights> routedWeightsOf(mlir::Value value, mlir::linalg::GenericOp op);

// Rows of the tiles that the table has lists of, and integers of a line.
inline constexpr std::array<int64_t, 3> kRoutedTiles = {64, 128, 256};
inline constexpr int64_t kRouteLine = 4;
/// Lines of the table for so many rows.
int64_t routeLines(int64_t rows, int64_t experts);

} // namespace tenon::compiler::dispatch
