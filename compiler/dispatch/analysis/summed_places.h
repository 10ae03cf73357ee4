// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of which some results have fewer terms than others:
//
//   result[p, i] = sum over t, k of (exists(p, t) ? x[i + t, k] * y[p, t, k] : 0)
//
// as the phases of a convolution have them, whose image had zeros between its elements (products/patches/phases.h).
// Such a term is none: to multiply by a zero in its place would make a NaN of an infinity. What exists is known when
// the program is compiled, and whoever sums goes from one place that exists to the next.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

/// The places of a reduced loop that are summed for each position of a parallel one.
struct SummedPlaces {
  unsigned of = 0, along = 0; // loops: the parallel one, the reduced one
  struct Run {
    int64_t first = 0, count = 0;
  };
  llvm::SmallVector<Run> runs; // [position of the parallel loop]
  int64_t step = 1;            // from a place that is summed to the next, in all of them
};

/// What a condition says that depends on loops alone: one pair of loops for each of the conditions that it joins.
/// Nothing where it says anything else, or places do not lie in steps.
std::optional<llvm::SmallVector<SummedPlaces>> summedPlacesOf(mlir::Value condition, mlir::linalg::GenericOp op);

/// Writes such a condition into the body of an operation: whether `exists(position, place)`.
/// @param positions, places of the two loops; their product is at most kMostPairs
mlir::Value writeSummedPlaces(mlir::OpBuilder &b, mlir::Location loc, mlir::Value position, mlir::Value place,
                              int64_t positions, int64_t places, llvm::function_ref<bool(int64_t, int64_t)> exists);
inline constexpr int64_t kMostPairs = 62; // bits of a mask

} // namespace tenon::compiler::dispatch
