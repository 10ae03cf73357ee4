// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans of lines whose elements lie side by side, by the threads of a warp or of a block. A tile is `chunks` vectors of
// each thread:
//
//   chunk 0: | thread 0's vector | thread 1's | .. |    chunk 1: | thread 0's | ..
//
// so that neighbours load what is adjacent. Within a thread values are scanned one after the other, ends of vectors
// over the lanes of a warp, ends of warps and chunks once more; what is known then is combined back into each.
//
// Vectors are those of memory, so that lines of odd length are read by vectors too: the first tile of a line begins
// with what its first vector holds of the line before, which is skipped, and only the vectors at a line's ends go one
// element at a time.
#pragma once

#include "compiler/codegen/along/lines/along.h"
#include "compiler/codegen/kernel/combine.h"

namespace tenon::compiler::codegen {

void writeScanRows(AlongWriter &writer, const Sum &sum, int64_t dimension, bool isInclusive);

} // namespace tenon::compiler::codegen
