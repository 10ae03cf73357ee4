// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention of few queries, such as the one of each token that a language model makes: what takes time is to read keys
// and values, once. Each warp goes through keys of its own, 16 after 16, straight from memory to registers, and has its
// own softmax. The keys are the 16 rows of `mma.sync`, and all queries that share them, heads of a group among them,
// are its columns, eight for each instruction:
//
//              8 queries                              8 queries
//   16 keys  [  scores'  ]            16 columns    [  result'  ]  +=  values' weights'
//
//
//   block of a cluster   0              1              ...        where there are clusters; else one block has all
//   warp                 0  1  2  3     0  1  2  3
//   16 keys, number      0  1  2  3     4  5  6  7     ... then the next of each
//
// At the end sums are scaled to the largest logit of all warps and added, in the order of their numbers: first those of
// a block, then those of the cluster, each block some of the columns. Or each block leaves its sums in memory, and a
// kernel behind adds them up (key_parts.h).
//
// Products do not mind in which order they sum, nor which column is called which. So that a lane reads 16 bytes at
// once, it takes eight adjacent elements of the depth where the instruction wants two, and eight adjacent columns of
// the values, two for each of four instructions; of elements of a byte sixteen, those of two steps.
#pragma once

#include "compiler/codegen/attention/few_queries/key_parts.h"

namespace tenon::compiler::codegen {

/// Block number * cluster and those behind it compute a tile, 16 rows of it.
void writeFewQueriesAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, uint32_t cluster);

/// Blocks leave what they have summed of their parts of the keys.
void writeFewQueriesParts(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts &parts);

} // namespace tenon::compiler::codegen
