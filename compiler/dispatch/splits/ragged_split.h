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
#include "compiler/dispatch/splits/ragged_parts.h"

#include "llvm/ADT/DenseMap.h"

namespace tenon::compiler::dispatch {

/// On a reduction to parts, and on that of the parts: elements of a row, at least and at most; -1: any number.
inline constexpr llvm::StringLiteral kRowBoundsAttr = "tenon.row_bounds";

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
