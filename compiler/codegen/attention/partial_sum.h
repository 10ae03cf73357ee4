// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has been summed of some keys of a row, relative to the largest logit of these, and how parts become one:
//
//   m = max(m_i)    f_i = exp(m_i - m)    weights = sum f_i weights_i    values = sum f_i values_i
//
// Parts are added in the order of their numbers, so that a result has the same bits each time.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"

namespace tenon::compiler::codegen {

struct PartialSum {
  static constexpr uint32_t kQuad = 4; // columns that a thread takes at once, from shared memory or to it

  mlir::Value largest, weights;
  llvm::SmallVector<mlir::Value, 4> values; // of columns
};

llvm::SmallVector<mlir::Value, 4> loadQuad(KernelBuilder &k, mlir::Value from);
/// Two or four, aligned to as many.
void storeVector(KernelBuilder &k, mlir::ValueRange values, mlir::Value to);

/// All that is known of a row. Where all keys are hidden, its weights are 0.
PartialSum combine(KernelBuilder &k, llvm::ArrayRef<PartialSum> parts);

/// Stores the quotient of a row's first value, at a column of the result, and what the group computes from it.
/// @param output the second product  @param finish of the quotient, before
void storeResult(const AttentionKernel &kernel, const ProductKernel &output, TileSpace &result, mlir::Value row,
                 mlir::Value column, const PartialSum &sum, llvm::function_ref<mlir::Value(mlir::Value)> finish);

} // namespace tenon::compiler::codegen
