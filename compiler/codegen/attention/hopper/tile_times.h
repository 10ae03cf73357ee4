// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long tiles of different rows take, where that is known when a kernel is written: how many blocks of keys each
// consumer of a tile computes, and what a tile takes beside.
#pragma once

#include "compiler/codegen/attention/hopper/warpgroup_shape.h"

namespace tenon::compiler::codegen {

/// Of the tiles of an element of the batch, from its first row on; none where sizes are unknown, or what rows see is
/// read from memory, or all tiles run at once. `kernel.rows`: of a tile.
llvm::SmallVector<uint32_t> tileTimes(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape,
                                      const ProductKernel &scores);

} // namespace tenon::compiler::codegen
