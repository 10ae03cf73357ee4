// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where tiles are few and keys are many, blocks share the keys of a tile: each computes a part of them and leaves what
// it has summed in memory (left_parts.h), and a kernel behind adds that up in the order of the parts.
//
//   tile 0   part 0: blocks of keys 0 1 2   part 1: 3 4 5   part 2: 6 7
//   tile 1   ...
#pragma once

#include "compiler/codegen/attention/hopper/warpgroup_shape.h"
#include "compiler/codegen/attention/left_parts.h"

namespace tenon::compiler::codegen {

struct PartResults {
  /// A tile's number in what parts leave. `kernel.rows`: of a tile.
  static mlir::Value tileOf(const AttentionKernel &kernel, const AttentionTile &tile);
  /// Elements that `tiles` leave.
  static int64_t elements(const WarpgroupAttentionShape &shape, int64_t tiles);
  /// Blocks of the kernel behind, each of so many threads.
  static int64_t blocks(const WarpgroupAttentionShape &shape, int64_t rows);
  /// The kernel behind. `kernel.rows`: of a tile.
  static void write(const AttentionKernel &kernel, const KeyParts &parts);
};

} // namespace tenon::compiler::codegen
