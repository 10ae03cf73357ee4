// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A group: linalg operations that become one kernel, and the axes that they share.
//
// Softmax over the rows of x[i, j] is four operations: m[i] = max x, e[i, j] = exp(x - m), s[i] = sum e, y = e / s.
// Each has loops of its own; where one reads what another computed, their loops are tied, so the group has two axes:
//
//   axis 0 (i)   parallel   in all four
//   axis 1 (j)   reduced    in the max and the sum, and run through again by e and y
//
// Whoever computes the group takes an index of axis 0 (a row) and runs through axis 1 as often as it must: m is known
// before e is asked for. What nobody outside the group reads is never stored.
//
// A group is either elementwise (no axis is reduced) or rows: every reduction reduces the same axes over the same rows;
// or it is an attention (attention/build.h): two products with a linalg.softmax between, and what is computed from each
// element of either. The keys are an axis of all of them; it and those of the first product's sums are reduced. One
// more result may be the logarithm of the sum of each row's exponentials. A chain
// (attention/chain.h) is the same without a softmax, and its weights may be computed from two products.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// On the operations of a chain: its number.
inline constexpr llvm::StringLiteral kChainAttr = "tenon.chain";

/// On a product of a chain with two results that sums over the rows of the others, and has a result for each of their
/// keys (attention/triplets.h).
inline constexpr llvm::StringLiteral kAcrossAttr = "tenon.across";

/// On an operation that is stored by a kernel of its own rather than computed in each tile of an attention that reads
/// it.
inline constexpr llvm::StringLiteral kStoredAttr = "tenon.stored";

/// On the operation of an attention that is the logarithm of the sum of each row's exponentials: what that is of a row
/// all of whose logits are -inf, f64 (attention/log_sum_exp.h).
inline constexpr llvm::StringLiteral kLogSumExp = "tenon.log_sum_exp";

/// On operations of a group that is there in two forms, of which the program launches one: the number of the choice,
/// and 1 in the form that is whole (whole_or_parts.h).
inline constexpr llvm::StringLiteral kFormAttr = "tenon.form";

/// The loop that an index is, where it is one and nothing else.
std::optional<unsigned> loopOf(mlir::AffineExpr expr);

struct Group {
  llvm::SmallVector<mlir::linalg::GenericOp> ops;                        // in the order of the block
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> axisOf; // [op][loop] -> axis
  llvm::SmallVector<bool> isReduced;                                     // [axes]
  mlir::linalg::SoftmaxOp softmax;                                       // of an attention; null: it is none
  mlir::linalg::GenericOp chained;                                       // weights of a chain; null: it is none
  mlir::linalg::GenericOp across;                                        // of a chain: kAcrossAttr; null: there is none
  mlir::linalg::GenericOp logSum; // of an attention's rows; null: nobody wants it

  /// Whether it holds products, the last of which reads what is computed from the others.
  bool hasWeights() const { return softmax || chained; }
  unsigned numAxes() const { return isReduced.size(); }
  bool hasReduction() const { return llvm::is_contained(isReduced, true); }
  bool contains(mlir::Operation *op) const { return axisOf.contains(op); }
  /// Axes that `op` runs over.
  llvm::SmallVector<bool> axesOf(mlir::linalg::GenericOp op) const;
  bool coversAllAxes(mlir::linalg::GenericOp op) const;
  /// Whether it runs over parallel axes only, all of them, in a group that reduces others: once per row. `logSum` has a
  /// result for rows of an attention, and none for its columns.
  bool isPerRow(mlir::linalg::GenericOp op) const;
  /// Whether the value is computed in the group from the result of a reduction of it.
  bool knowsReduction(mlir::Value value) const;
};

/// Whether it has reduced loops.
bool reduces(mlir::linalg::GenericOp op);
/// What is computed of an element by linalg.softmax, which has no loops of its own, is at the place of that element.
mlir::Value beforeSoftmax(mlir::Value value);
/// Whether it is one of the products of an attention or of a chain.
bool isOfAttention(mlir::linalg::GenericOp op);

/// Whether some operations are of a chain: each of it alone is an operation like any other.
bool holdsChain(llvm::ArrayRef<mlir::linalg::GenericOp> ops);
/// What computes the weights of the chain; null: none of them.
mlir::linalg::GenericOp weightsOf(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

/// Whether an operation that is not in `group` reads the value.
bool isReadOutside(mlir::Value value, const Group &group);

} // namespace tenon::compiler::dispatch
