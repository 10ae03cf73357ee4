// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention on the cores that every type and every target has: 256 threads as 16 x 16, each with 4 x 4 scores of 64
// queries and 64 keys, and 4 x 8 elements of the result. Weights go through shared memory, where both products have
// their operands.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kScalarAttentionThreads = 256;

/// @param tile its number (i64)
void writeScalarAttention(const AttentionKernel &kernel, mlir::Value tile);

} // namespace tenon::compiler::codegen
