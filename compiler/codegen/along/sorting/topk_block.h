// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A top-k by a block for each line, or for each part of one. In shared memory the block keeps the best k so far, in
// order, and behind them what has come before the last of these since; when there is no room for more, all is sorted,
// and the first k stay. Of random elements few come so far.
//
// Of a few best the block asks for a bound before it begins: each thread takes the best of its elements of a sample,
// and of these bests the last of the first k, of which k elements are no worse, bounds what counts. So long stretches
// of the line are read at once, and hardly anything of them is kept.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

struct TopkBlock {
  static constexpr uint32_t kThreads = 256;

  /// How many entries a block holds of lines of which so many are wanted (nothing: not known): 0 where it cannot.
  static int64_t capacity(mlir::Type value, mlir::Type position, std::optional<int64_t> best);
};

/// Writes a kernel with the choices `capacity`, `position`, and of lines that are cut `parts` and `pass`: 1 for each
/// part, 2 for what they left.
void writeTopkBlock(AlongWriter &writer);

} // namespace tenon::compiler::codegen
