// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of rows that are no multiple of a vector long, so that each starts elsewhere between the vectors of its tensor.
// Of each row a block reads the vectors that lie in it, which are aligned, and the few elements in front of them and
// behind them one by one:
//
//   |  .  .  a  b  |  c  d  e  f  |  g  h  i  j  |  k  .  .  .  |      a row of 11 in vectors of four
//            edge        whole          whole        edge
//
// All of a thread's loads are on their way together; the edges are fewer than the row has threads.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

/// Whether rows of a known length are read so where bases are aligned: once, in few vectors a thread, and every tensor
/// that has elements along the row by the same indices.
bool takesRaggedRows(const Writer &writer);
void writeRaggedRows(Writer &writer);

} // namespace tenon::compiler::codegen
