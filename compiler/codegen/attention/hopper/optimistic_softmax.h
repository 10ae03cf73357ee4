// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax over keys that arrive block by block, for those who multiply asynchronously: no maximum is looked for. The
// exponentials of a block are taken relative to what earlier blocks were relative to, and nearly always that is good
// enough: softmax does not depend on the reference as long as nothing overflows. Only where a sum says that something
// might have (it is too large, infinite or no number) the block, whose logits are still in registers, is computed once
// more, relative to its largest, and what was summed before is scaled. Warps decide that on their own.
//
//   w = 2^(x f + o)        f = log2(e), o = - log2(e) reference
//
// References as large as the numbers that hide keys have f = 1 (online_softmax.h). Rows all of whose logits were -inf
// have the least number as their reference: weights are 0, and the first logit that is one overflows.
#pragma once

#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

class OptimisticSoftmax {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  static constexpr uint32_t kRows = 2; // of a thread; four lanes, adjacent ones, share them

  /// @param isHalf weights are rounded to f16, not bf16
  /// @param early exponentials of each row that are on their way before the product is waited for: each takes a
  /// register
  OptimisticSoftmax(KernelBuilder &k, TensorCore &core, bool isHalf, uint32_t early)
      : k_(k), core_(core), isHalf_(isHalf), early_(early) {}

  /// What is carried: of each row f and o, then the sums of this thread's weights.
  static constexpr uint32_t kStates = 3 * kRows;
  Values start();
  struct Step {
    Values carried;
    Values factors; // left factors of the weights, two registers (one of each row) for each four of the logits
  };
  /// The first block. Logits are those of one row, then those of the other; they are multiplied by `scale` before.
  Step first(llvm::ArrayRef<Values> logits, double scale);
  /// Another one. `results` is called when some exponentials are on their way and before a factor is written: it
  /// waits for the product that reads the factors of the block before, and returns the sums of that; they are scaled.
  Step next(mlir::ValueRange carried, llvm::ArrayRef<Values> logits, double scale, llvm::function_ref<Values()> results,
            Values &sums);
  /// For all threads that share a row. All of them call it.
  RowTotals totals(mlir::ValueRange carried);
  /// What is carried is relative to numbers between those that f32 has. Factors by which it is relative to those that
  /// totals() tells, of each row: where these are large, they are not 1.
  Values toReferences(mlir::ValueRange carried);

private:
  struct Reference {
    mlir::Value factor, offset; // f32
  };
  mlir::Value constant(double value);
  mlir::Value power(mlir::Value exponent);
  mlir::Value overRow(mlir::Value value, llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  mlir::Value largestOf(llvm::ArrayRef<mlir::Value> logits, double scale);
  Reference against(mlir::Value largest);
  mlir::Value reached(const Reference &reference);
  Values weigh(llvm::ArrayRef<Values> logits, llvm::ArrayRef<Reference> references, double scale,
               llvm::function_ref<void()> beforeFactors, Values &sums);

  KernelBuilder &k_;
  TensorCore &core_;
  const bool isHalf_;
  const uint32_t early_;
};

} // namespace tenon::compiler::codegen
