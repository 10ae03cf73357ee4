// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention on tensor cores, a warp at a time (mma.sync, sm_80 and later; f16, bf16). Four warps share a tile of 64 or
// 128 queries; each has 16 or 32 rows of it, all their scores against a block of 64 or 32 keys, and all columns of
// their result. What a thread holds of 16 x 8 scores is what it gives of a left factor of 16 x 16, so weights never
// leave its registers.
//
// Queries stay in shared memory; keys and values of a block lie beside them, and are copied while the other is used:
//
//   wait for keys, copy values | scores | wait for values, copy the next keys | softmax, result += weights * values
//
// Of a chain of two products both left factors stay there, and both right ones are copied as keys are.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"

namespace tenon::compiler::codegen {

struct TensorCoreAttentionShape {
  uint32_t rows;                         // at once
  uint32_t keys;                         // of a block: 64, or 32
  llvm::SmallVector<uint32_t, 2> depths; // of the sums of each product that scores come from
  uint32_t columns;                      // of the values
  bool isLaunch = false;                 // its shared memory is that of the launch, however little it is

  /// Of a tile with so many rows: all at once, or 64 after 64. Of 128 rows a fragment of keys or values is read once
  /// for two products, and what a kernel has without asking for more holds 32 keys beside them, of depths up to 128.
  static TensorCoreAttentionShape of(uint32_t rows, llvm::ArrayRef<uint32_t> depths, uint32_t columns, bool isChain);
  /// Its shared memory is that of the launch: it needs more than any kernel has, or shares it.
  bool isDynamic() const;
};

inline constexpr uint32_t kTensorCoreAttentionThreads = 128;
/// Shared memory.
uint32_t tensorCoreAttentionBytes(const TensorCoreAttentionShape &shape);
void writeTensorCoreAttention(const AttentionKernel &kernel, const TensorCoreAttentionShape &shape);

} // namespace tenon::compiler::codegen
