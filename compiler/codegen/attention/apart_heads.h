// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads that share their keys. Their queries are rows of one product, those of a head behind those of the head before:
// keys are read once for all of them, and few queries of many heads fill a tile. But a tile that has rows of two heads
// sees all keys, whatever a mask says (hiding.h): of 4 heads with 1000 queries each, below a diagonal,
//
//   32 tiles of 128 rows, all keys    ->    4 x 8 tiles, the last of 104 rows, half of the keys in the mean
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"

namespace tenon::compiler::codegen {

/// The attention of a kernel (Attention::of). Where queries of a head are no whole tiles and a mask follows them, heads
/// are elements of the batch, whose keys are the same, unless the last tiles cost more than the mask hides.
std::optional<Attention> attentionOf(const KernelFunction &kernel, const GroupShape &shape);

} // namespace tenon::compiler::codegen
