// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a reduction whose size is not known, or has no divisor of a good size. The first S * M of R rows are S parts
// of M; the less than S rows behind them are taken in by the second reduction, a row with each part:
//
//   sum over r of x[r, p]      S chosen by the host from the sizes, M = R / S
//   -> partial[s, p] = sum over m of x[s, m, p]                                x seen as [S, M, p]: its first rows
//      sum over s of partial[s, p] + (S * M + s < R ? x[S * M + s, p] : 0)
//
// So a part is whole vectors wherever rows are, no element is tested in the first reduction, and the order of a sum
// depends on the sizes alone.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// What decides about parts.
struct RaggedLimits {
  int64_t enough; // blocks: a reduction that has so many is one part
  int64_t wanted; // blocks of all parts
  int64_t least;  // rows of a part
  int64_t tile;   // adjacent results that a block computes; 1: one
};

/// The loop that can be divided so: the outermost of the tensor in memory, and the only one that is reduced.
std::optional<unsigned> raggedLoopOf(mlir::linalg::GenericOp op);

/// Divides it.
void splitRagged(mlir::linalg::GenericOp op, unsigned loop, const RaggedLimits &limits);

} // namespace tenon::compiler::dispatch
