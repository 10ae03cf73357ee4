// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction on tensor cores, a warp at a time (mma.sync, sm_75 and later; f16, bf16, int8, tf32, f8): four or eight
// warps compute a part of the tile each, while the operands of the next steps are copied.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

/// Threads of a block with such a tile. Four warps have parts of 64 x 64, 64 x 32 or 32 x 32 elements, and there are
/// several blocks; the largest tiles have eight. So have targets without copies beside the threads, and windows of
/// images in tiles of 128 x 128: where their elements lie takes registers.
uint32_t tensorCoreThreads(const Product &product, uint32_t rows, uint32_t columns, uint16_t target);

/// Steps of operands that are in shared memory, or on their way to it.
struct TensorCoreStages {
  uint32_t depthBytes = 64, count = 0; // of a row of a tile along the reduced elements, in a step: 64 or 128; steps

  /// As many as a kernel may have without asking for more shared memory.
  static TensorCoreStages ofStatic(uint32_t rows, uint32_t columns);
  uint32_t bytes(uint32_t rows, uint32_t columns) const { return (rows + columns) * depthBytes * count; }
};

void writeTensorCoreProduct(ProductKernel kernel, const TensorCoreStages &stages);

} // namespace tenon::compiler::codegen
