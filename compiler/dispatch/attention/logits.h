// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logits of an attention, or the weights of a chain, as one linalg.generic: from scores, and from whatever else the
// program computes them from, in as many operations as it likes. Its loops are those of the last product, the keys
// last.
#pragma once

#include "compiler/dispatch/attention/attention_match.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace tenon::compiler::dispatch {

class LogitsBuilder {
public:
  /// @param b stands where they are to be written
  LogitsBuilder(const AttentionMatch &match, mlir::OpBuilder &b);

  /// In the type that softmax is computed in: f32, or f64.
  mlir::Value build();
  /// A tensor of their shape.
  mlir::Value empty(mlir::Type element);
  /// Loop of the last product -> dimension of the logits.
  const llvm::DenseMap<unsigned, unsigned> &dimensionOfLoop() const { return dimensionOfLoop_; }

private:
  bool knowsScores(mlir::Operation *op);
  bool hasNarrowFactors();
  bool isPartOfLogits(mlir::linalg::GenericOp op);
  mlir::Value sizeOf(unsigned loop);
  void collectInputs(const Term &term);
  mlir::AffineExpr here(mlir::AffineExpr anchor) const;
  mlir::AffineMap mapOf(const Term &element) const;
  mlir::Value emit(const Term &term, mlir::OpBuilder &b, mlir::ValueRange arguments);
  mlir::Value multiplied(mlir::OpBuilder &b, mlir::Value value, double factor);

  using Key = std::pair<const void *, std::vector<const void *>>;
  static Key keyOf(const Term &term);

  const AttentionMatch &match_;
  mlir::OpBuilder &b_;
  mlir::Location loc_;
  Terms terms_;
  llvm::DenseMap<mlir::Operation *, bool> knows_;
  llvm::DenseMap<unsigned, unsigned> dimensionOfLoop_;
  llvm::SmallVector<Term> inputs_;
  std::map<Key, unsigned> inputOf_;
  std::map<Key, mlir::Value> emitted_;
};

} // namespace tenon::compiler::dispatch
