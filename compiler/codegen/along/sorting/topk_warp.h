// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A top-k of short lines by a warp for each, such as the choice of experts: each lane has some elements of the line, as
// whole numbers that hold an element's place in the order above where it stood. The least of all lanes is the next
// best, k times; nobody waits for other warps.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

struct TopkWarp {
  static constexpr uint32_t kThreads = 256, kLines = kThreads / 32; // of a block

  /// Whether it computes the operation: lines are known to be short, few are wanted of each, and they are compared as
  /// numbers of up to 32 bits.
  static bool takes(const KernelFunction &kernel);
};

void writeTopkWarp(AlongWriter &writer);

} // namespace tenon::compiler::codegen
