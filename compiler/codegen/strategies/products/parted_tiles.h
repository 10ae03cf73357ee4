// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether blocks of Hopper's attention share the keys of a tile, and how many do (part_results.h). A tile runs on one
// multiprocessor: where tiles are fewer than these and keys are many, much of a device has nothing to do. How long
// tiles take, whole and in parts, is estimated from what was measured:
//
//   the longer one of rounds of blocks * blocks of keys * time of one, and of what it takes to read all keys,
//   and once what tiles take beside and the kernel that adds parts up
#pragma once

#include "compiler/codegen/attention/hopper/warpgroup_shape.h"

namespace tenon::compiler::codegen {

/// Of a program for sm_90a alone.
struct PartedTiles {
  WarpgroupAttentionShape shape; // with its consumers and parts
  int64_t above = 0;             // keys, where only the program knows how many: of fewer, tiles are whole

  /// Nothing where tiles are whole, or where few queries are read by warps (few_queries/).
  static std::optional<PartedTiles> of(const GroupShape &shape, const Attention &attention);
};

} // namespace tenon::compiler::codegen
