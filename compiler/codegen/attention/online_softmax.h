// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax over keys that arrive block by block. What has been summed so far is relative to the largest logit so far;
// where a block brings a larger one, it is scaled:
//
//   m' = max(m, logits)    w = exp(logits - m')    f = exp(m - m')    l' = f l + sum w    out' = f out + w values
//
// and at the end out / l. As long as all logits of a row were -inf, weights are 0, not exp(-inf - -inf): a later block
// may have others. Where none has, l stays 0 and the row is 0 / 0, the NaN of the program that stores its scores, or 0
// where the program says that (kHiddenIsZero).
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

/// Of references above it, in f32, log2 e is not exact enough.
inline constexpr double kLargeReference = 1 << 26;

/// What a row is divided by: its sum, or 1 where that is 0 and `hiddenIsZero`.
mlir::Value divisorOf(KernelBuilder &k, mlir::Value sum, bool hiddenIsZero);

/// What is known of each row at the end: the sum of its exponentials, and the logit that they are relative to.
struct RowTotals {
  llvm::SmallVector<mlir::Value> references, sums;
  /// 1 / sum of each; 1 of a row whose keys are all hidden, if `hiddenIsZero`.
  llvm::SmallVector<mlir::Value> inverses(KernelBuilder &k, bool hiddenIsZero) const;
};

class OnlineSoftmax {
public:
  /// Of `rows` rows of each thread. Threads whose numbers differ by `partners` (powers of two below 32) share them.
  /// `isFast`: exponentials are good to about 2 units of the last place of f32 (ex2.approx), for weights that are
  /// rounded to f16 or bf16 anyway; else they are math.exp.
  OnlineSoftmax(KernelBuilder &k, mlir::Type type, uint32_t rows, llvm::ArrayRef<uint32_t> partners, bool isFast)
      : k_(k), type_(type), rows_(rows), partners_(partners.begin(), partners.end()), isFast_(isFast) {}

  /// What is carried from block to block: the largest of each row, then the sum of this thread's part of each.
  llvm::SmallVector<mlir::Value> start();
  struct Step {
    llvm::SmallVector<mlir::Value> carried;
    llvm::SmallVector<mlir::Value> factors; // [rows]: of what has been summed before
    mlir::Value isSame;                     // all factors are 1, of a thread's rows; null: not known
  };
  /// Replaces the logits of a block, of each row, by weights.
  /// @param scale logits are to be multiplied by it before
  /// @param slack 0: weights are relative to the largest logit so far. Else what they are relative to stays until a
  ///   logit exceeds it by more than that, and nothing is scaled before: weights are e^slack at most
  Step step(mlir::ValueRange carried, llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> logits, double scale = 1,
            double slack = 0);
  /// What has been summed before, scaled by the factor of its row.
  llvm::SmallVector<mlir::Value> scaled(const Step &step, mlir::ValueRange sums,
                                        llvm::function_ref<uint32_t(size_t)> rowOf);
  /// For all threads that share a row. All of them call it.
  RowTotals totals(mlir::ValueRange carried);

private:
  mlir::Value constant(double value);
  mlir::Value multiply(mlir::Value x, mlir::Value y);
  mlir::Value larger(mlir::Value x, mlir::Value y);
  mlir::Value exponential(mlir::Value value, mlir::Value reference);
  struct Powers {
    mlir::Value scale, offset;
  };
  Powers powersAgainst(mlir::Value reference);
  mlir::Value power(mlir::Value exponent);
  mlir::Value overPartners(mlir::Value value, llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  KernelBuilder &k_;
  mlir::Type type_;
  uint32_t rows_;
  llvm::SmallVector<uint32_t> partners_;
  bool isFast_;
};

} // namespace tenon::compiler::codegen
