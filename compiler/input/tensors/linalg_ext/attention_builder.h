// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations that an attention of iree_linalg_ext stands for, each over the loops that its indexing maps name.
#pragma once

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace tenon::compiler::input {

/// Loops of the operation in the order of a tensor's dimensions.
using Loops = llvm::SmallSetVector<unsigned, 8>;

mlir::Value convertFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Type type);

class AttentionBuilder {
public:
  /// `op` is an attention, or one that goes on.
  template <typename Op>
  AttentionBuilder(Op op, mlir::OpBuilder &b)
      : AttentionBuilder(op.getLoc(), op.getInputs(), op.getOutputs(), *op.getIndexingMaps(), op.getRegion(), b) {}

  struct Operand {
    mlir::Value tensor;
    Loops loops;
  };

  /// Scores, scaled, changed by the region, and masked; their last loops are the keys.
  Operand scores();
  /// exp(score - largest); 0 where the largest is -inf, of a query that sees no key.
  Operand powers(const Operand &scores, const Operand &largest);
  /// Sums over the keys of weights times values, with the loops of the result.
  Operand sums(const Operand &weights);

  /// One number for each row of scores, over the keys.
  Operand largest(const Operand &scores);
  Operand sum(const Operand &powers);

  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;
  /// A body for each iteration of `loops`.
  Operand each(const Loops &loops, llvm::ArrayRef<Operand> operands, mlir::Type element, Body body);
  /// `value`, and `to` instead where it is `from`.
  mlir::Value guarded(mlir::OpBuilder &b, mlir::Value value, double from, double to);
  mlir::Value number(mlir::OpBuilder &b, double value);

  /// Of an operand, or an out behind them.
  Loops loopsOf(unsigned operand);
  /// As the type that an out has.
  mlir::Value narrowed(const Operand &result, unsigned out);
  /// Of sums, scores and weights.
  mlir::Type wide() const { return wide_; }

private:
  AttentionBuilder(mlir::Location loc, mlir::OperandRange inputs, mlir::OperandRange outputs, mlir::ArrayAttr maps,
                   mlir::Region &region, mlir::OpBuilder &b);

  mlir::AffineMap map(unsigned operand);
  mlir::AffineMap mapOf(const Loops &loops, const Loops &all);
  mlir::Value empty(const Loops &loops, mlir::Type element);
  mlir::Value product(mlir::Value left, const Loops &ofLeft, mlir::Value right, const Loops &ofRight,
                      const Loops &result, const Loops &reduced);
  mlir::Value scaleOf(const Loops &depth);
  Operand masked(const Operand &scores, mlir::Value factor);
  template <typename Combine> Operand reduce(const Operand &scores, double start);

  mlir::Location loc_;
  mlir::OperandRange inputs_, outputs_;
  mlir::ArrayAttr maps_;
  mlir::Region &region_;
  mlir::OpBuilder &b_;
  mlir::Type wide_;
  Loops keys_; // of keys and values alone
  llvm::DenseMap<unsigned, mlir::OpFoldResult> size_;
};

} // namespace tenon::compiler::input
