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
// Where the sum is over other dimensions, too, each row of the first is a part:
//
//   sum over r, p of x[r, c, p]   -> partial[r, c] = sum over p of x[r, c, p],   then the sum over r
//
// A sum around a center that is made of another sum takes the parts of that one (centred_sums.h).
#pragma once

#include "compiler/dispatch/splits/centred_sums.h"

#include "llvm/ADT/DenseMap.h"

namespace tenon::compiler::dispatch {

/// On a reduction to parts, and on that of the parts: elements of a row, at least and at most; -1: any number.
inline constexpr llvm::StringLiteral kRowBoundsAttr = "tenon.row_bounds";

/// What decides about parts.
struct RaggedLimits {
  int64_t enough;      // blocks: a reduction that has so many is one part
  int64_t wanted;      // blocks of all parts
  int64_t least;       // rows of a part
  int64_t tile;        // adjacent results that a block computes; 1: one
  bool isLong = false; // no part is shorter than `least`, since the program computes what has fewer rows in one kernel
};

/// The loop that can be divided so: the outermost of the tensor in memory, and the only one that is reduced.
std::optional<unsigned> raggedLoopOf(mlir::linalg::GenericOp op);
/// The loop of which each position can be a part: of several that are reduced the outermost one of the tensor in
/// memory.
std::optional<unsigned> wholeLoopOf(mlir::linalg::GenericOp op);

/// Rows, parts, and rows of a part.
struct RaggedParts {
  mlir::Value size, parts, inPart;
};
RaggedParts raggedParts(mlir::OpBuilder &b, mlir::linalg::GenericOp op, unsigned loop, const RaggedLimits &limits);
/// Size of a loop, of which every one indexes some operand by itself: of the first tensor that has it.
mlir::Value loopSize(mlir::OpBuilder &b, mlir::linalg::GenericOp op, unsigned loop);

/// How a sum was taken apart that variances are centred by.
struct RaggedSum {
  unsigned loop;
  bool isWhole;                                    // each position of the loop is a part
  mlir::Value size, parts, inPart;                 // rows, parts, rows of a part
  mlir::Value partial;                             // the parts' sums
  llvm::DenseMap<mlir::Value, mlir::Value> viewOf; // tensors in parts
};

/// Of a sum around a center, what it is and how its plain sum was divided.
struct RaggedCentre {
  CentredSum sum;
  RaggedSum plain;
};

/// Divides the loop. Nothing where it has to stay whole.
/// @param limits none: each position is a part
/// @param centred the sum around a center that it is, if it is one whose other sum was divided
std::optional<RaggedSum> splitRagged(mlir::linalg::GenericOp op, unsigned loop, std::optional<RaggedLimits> limits,
                                     const RaggedCentre *centred = nullptr);

} // namespace tenon::compiler::dispatch
