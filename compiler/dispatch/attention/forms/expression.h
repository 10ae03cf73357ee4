// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an element of a tensor is computed from, however many operations compute it. Front ends write `exp(x - max)` as
// one operation or as five, with broadcasts, casts and dimensions of one between them. A term is a scalar of one of
// their bodies, at a place given by the loops of a single operation, the anchor:
//
//   anchor, loops (i, j):  ... reads %e at (i, j)
//   %e[a, b] = exp(%d[a, b])          the term exp(..) at a = i, b = j
//   %d[a, b] = %x[a, b] - %m[a]       its operand is the term %x[i, j] - %m[i]
//
// so that whoever looks for a form asks for terms and their operands, and never for operations.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace tenon::compiler::dispatch {

struct Term {
  enum class Kind {
    Computed, // `value` is computed in the body of `op`, whose loops are at `place`
    Element,  // of the tensor `value`, at the indices `place`
    Outside   // `value` is a scalar, or a tensor that a body reads by itself
  };
  Kind kind = Kind::Outside;
  mlir::Value value;
  mlir::linalg::GenericOp op;
  llvm::SmallVector<mlir::AffineExpr, 4> place;

  mlir::Operation *operation() const { return kind == Kind::Computed ? value.getDefiningOp() : nullptr; }
  template <typename Op> bool is() const { return llvm::isa_and_nonnull<Op>(operation()); }
};

/// Follows terms through the operations of a block.
class Terms {
public:
  /// `follows`: whether what an operation computes, which reduces nothing, is taken apart. Else its results are
  /// elements of tensors.
  explicit Terms(std::function<bool(mlir::linalg::GenericOp)> follows = {}) : follows_(std::move(follows)) {}

  /// A value of the body of `op`, or one that it uses from outside, where its loops are at `place`.
  Term of(mlir::Value value, mlir::linalg::GenericOp op, llvm::ArrayRef<mlir::AffineExpr> place);
  Term operand(const Term &term, unsigned number);
  /// The same without casts between types of floats.
  Term withoutCasts(Term term);
  /// The same without constants above 0 that it is multiplied by, which `factor` is multiplied by.
  Term withoutFactor(Term term, double &factor);
  /// x of select(x == guarded, instead, x), which sets `isGuarded`; else the term itself.
  Term withoutGuard(Term term, double guarded, double instead, bool &isGuarded);
  /// Whether both are the same number wherever the anchor's loops are, but for roundings.
  bool areEqual(const Term &a, const Term &b);

  /// Operations that were gone through, and reshapes.
  const llvm::SetVector<mlir::Operation *> &visited() const { return visited_; }
  void visit(mlir::Operation *op) { visited_.insert(op); }

private:
  Term element(mlir::Value tensor, llvm::SmallVector<mlir::AffineExpr, 4> at);
  bool areEqual(const Term &a, const Term &b, unsigned &budget);

  std::function<bool(mlir::linalg::GenericOp)> follows_;
  llvm::SetVector<mlir::Operation *> visited_;
};

/// The loops of an operation, each at its own place.
llvm::SmallVector<mlir::AffineExpr> loopsOf(mlir::linalg::GenericOp op);

/// The elements of tensors that a term is computed from.
llvm::SmallVector<Term> elementsOf(Terms &terms, const Term &term);

/// A tensor of one value everywhere: its attribute.
mlir::TypedAttr splatOf(mlir::Value tensor);
/// Whether a scalar, or every element of a tensor, is a number that `holds` of.
bool isConstant(const Term &term, llvm::function_ref<bool(const llvm::APFloat &)> holds);

} // namespace tenon::compiler::dispatch
