// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that know an earlier reduction of the row, and yet need no pass of their own.
//
// Softmax sums exp(x - m), where m is the largest x of the row. A thread that has seen some elements keeps the largest
// of them, r, and s = sum exp(x - r). When a larger r' comes, s is multiplied by exp(r - r'); when the row's m is
// known, by exp(r - m). So m and the sum take one pass ("online softmax").
//
// A variance sums (x - c)^2, where c is made of the sum of x. A thread keeps how many elements it has seen, n, their
// mean a and q = sum (x - a)^2, and joins what comes to them by Chan's rule; when c is known, its elements' sum is q +
// n (a - c)^2. No large numbers cancel, whatever the mean is.
//
// Infinities and NaNs mean what they mean in two passes.
#pragma once

#include "compiler/codegen/kernel/bodies/bodies.h"

namespace tenon::compiler::codegen {

class Origins;

/// What `sum` adds up, where it is exp(x - m) or exp2(x - m) in f32 or f64, with m the maximum of x: of `over`. Else
/// null.
mlir::Operation *exponentialOver(const Origins &origins, const RowSum &sum, const RowSum &over);

struct OnePassSum {
  enum class Kind { Exponentials, Squares };
  Kind kind;
  RowSum sum;
  RowSum over;                  // the maximum or the sum of the same x, of the phase before
  mlir::Operation *exponential; // Exponentials: exp or exp2 of the body
  const KernelOp *centerOp;     // Squares: whose body has c,
  mlir::BlockArgument center;   // as this

  /// How many values a thread keeps, and which they are before it has seen any element.
  size_t size() const { return kind == Kind::Exponentials ? 2 : 3; }
  llvm::SmallVector<mlir::Value> start(KernelBuilder &k) const;
  /// Joins elements x, in the type of `over`'s accumulator.
  llvm::SmallVector<mlir::Value> join(KernelBuilder &k, mlir::ValueRange state, llvm::ArrayRef<mlir::Value> x) const;
  /// m or c, once `over` is known for the row, or for the rows of all lanes.
  mlir::Value referenceOf(Bodies &bodies, const Point &row, unsigned lane = 0) const;
  /// The sum of the thread's elements.
  mlir::Value finish(KernelBuilder &k, mlir::ValueRange state, mlir::Value reference) const;

private:
  mlir::Type type() const; // in which it is computed
  mlir::Value widened(KernelBuilder &k, mlir::Value value) const;
  mlir::Value exponentialOf(KernelBuilder &k, mlir::Value value) const;
};

/// The sums of phase `then` (phasesOf), each as one that takes no pass behind that of `first`; nothing where one of
/// them needs it.
std::optional<llvm::SmallVector<OnePassSum>> onePassSums(const KernelFunction &kernel, const GroupShape &shape,
                                                         llvm::ArrayRef<RowSum> first, llvm::ArrayRef<RowSum> then);

} // namespace tenon::compiler::codegen
