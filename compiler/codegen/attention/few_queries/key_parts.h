// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of parts of the keys (left_parts.h), of blocks that share a tile of few queries, and the kernel behind that adds
// them up in the order of the parts.
#pragma once

#include "compiler/codegen/attention/few_queries/few_queries_shape.h"
#include "compiler/codegen/attention/left_parts.h"

namespace tenon::compiler::codegen {

inline constexpr uint32_t kKeyPartsThreads = 256; // of the kernel behind

/// Of a block in the grid: groups of rows that read the same keys run side by side, then parts of the keys, then tiles.
struct BlockPlace {
  mlir::Value group, groups; // of rows
  mlir::Value rank;          // among the parts
  mlir::Value tile;

  BlockPlace(KernelBuilder &k, const FewQueriesShape &shape, uint32_t parts);
  /// Of the tile and its group, as parts are numbered.
  mlir::Value number(KernelBuilder &k) const;
};

/// Elements that tiles leave.
int64_t keyPartsElements(const FewQueriesShape &shape, int64_t tiles, int64_t parts);

/// Blocks of the kernel behind that share the columns of a row: with few rows, most of a device would wait for the few
/// that read parts of whole rows.
uint32_t keyPartsSplit(const FewQueriesShape &shape, int64_t tiles);

/// Dynamic shared memory of the kernel behind one with keys in shared memory, which has `inFront`. Where its blocks are
/// no more than multiprocessors, it asks for as much: one that is to divide its memory anew waits until it is empty,
/// and blocks that need little would crowd on the first ones that are. (On an H200 attentions of 11 to 16 us took 6 to
/// 8 % less; of more blocks, which run in two rounds then, up to 13 % more.)
uint32_t keyPartsSharedBytes(const FewQueriesShape &shape, uint32_t inFront, int64_t tiles);

/// The kernel behind: keyPartsSplit() blocks for each row of each tile.
void writeKeyPartsSum(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts &parts,
                      uint32_t split);

} // namespace tenon::compiler::codegen
