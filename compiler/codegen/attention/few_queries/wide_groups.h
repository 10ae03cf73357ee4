// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wide attention (wide_attention.h) of more than 16 queries that share their keys, such as the 128 heads of latent
// attention: there products take the time, and warpgroups make them. A block has 64 rows, whose queries stay in shared
// memory behind the ring of keys (key_ring.h).
//
//   two warpgroups   scores and weights of all rows, each for itself
//                    result of half of the columns, up to 256 of 512, in 128 registers
//
// What they compute twice is a third of the products; to hand weights on would cost a barrier and keep neither busy.
#pragma once

#include "compiler/codegen/attention/few_queries/key_parts.h"

namespace tenon::compiler::codegen {

/// @param parts null: a block goes through all keys of its rows
void writeWideGroups(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts *parts);

} // namespace tenon::compiler::codegen
