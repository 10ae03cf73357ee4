// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries of depths or columns above 256, such as those of latent attention: 576 elements of each key, the first
// 512 of which are its values, on one head of keys for all queries. A warp has no registers for sums of so many
// columns; those of a block share the scores of a step, and each has some of the columns. Keys lie in shared memory
// (key_ring.h), values among them where they are elements of the keys.
//
//                      8 queries   8 queries
//   16 keys   scores'  warp 0      warp 1           a step of up to 64 keys
//   16 keys            warp 2      warp 3
//   ...                                   -> logits in shared memory ->
//
//                                            8 queries   8 queries
//   an eighth of the columns     result'  +=  warp 0 multiplies all of them by the weights of all keys of the step
//   the next eighth                           warp 1
//
// Each warp computes the softmax of all rows anew: exponentials cost less than to wait for who has computed them. The
// block's sums are whole then, and go to memory from registers, as a result or as a part (key_parts.h).
#pragma once

#include "compiler/codegen/attention/few_queries/key_parts.h"

namespace tenon::compiler::codegen {

/// @param parts null: a block goes through all keys of its rows
void writeWideAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts *parts);

} // namespace tenon::compiler::codegen
