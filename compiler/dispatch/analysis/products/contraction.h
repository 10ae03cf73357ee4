// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions: sums of products of two sides that share only some of their loops. Matrix products, batched or with
// their dimensions in any order, and convolutions are such:
//
//   c[b, i, j] += a[b, i, k] * b[b, k, j]      batch: b   rows: i   columns: j   reduced: k
//
// A loop of both sides that is not reduced is one of the batch; a parallel loop of the left side alone is one of the
// rows, of the right side alone one of the columns. Elements of either side are read many times over, so whoever
// computes a contraction brings tiles of both to where they are near.
#pragma once

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/products/routes.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/analysis/summed_places.h"

namespace tenon::compiler::dispatch {

/// One factor of the product.
struct ContractionSide {
  mlir::Value value;                     // of the body
  llvm::SmallVector<unsigned, 2> inputs; // of the operation: what `value` is computed from, one at least
  std::optional<Border> border;          // then `value`, before it is extended, is read from that, and from no input
  std::optional<RoutedWeights> routed;   // the same; of a routed product's right side
};

struct Contraction {
  mlir::linalg::GenericOp op;
  Combiner combiner = Combiner::AddF; // or AddI
  // The last dimension of the result is one of the right side, if it is of either; an image with its channels last,
  // which tensor cores multiply, is left.
  ContractionSide left, right;
  llvm::SmallVector<unsigned, 4> batch, rows, columns, reduced; // loops of `op`
  // Where elements of the batch have only some of the terms: the parallel loops of these are such of the batch,
  // whichever side has them.
  llvm::SmallVector<SummedPlaces, 0> places;

  /// Whether each row says which of several right sides it is multiplied by (routes.h). Then rows are in the order in
  /// which the result has them, loops that no side is indexed by among them.
  bool isRouted() const { return right.routed.has_value(); }
  /// Whether all results have all terms of a reduced loop: then its sum may be taken apart.
  bool isSummedByAll(unsigned loop) const {
    return llvm::none_of(places, [&](const SummedPlaces &each) { return each.along == loop; });
  }
};

/// How many places some loops of an operation have, where all of them are known.
std::optional<int64_t> knownSizeOf(mlir::linalg::GenericOp op, llvm::ArrayRef<unsigned> loops);

/// Nothing where `op` is no sum of products of two sides.
std::optional<Contraction> productOf(mlir::linalg::GenericOp op);
/// Of these, one whose elements are all read more than once: else it is a reduction like any other (isTreeReduction),
/// such as the product of a matrix and a vector, or a window.
std::optional<Contraction> contractionOf(mlir::linalg::GenericOp op);
/// Whether results read elements that others read as well, and yet it is no product of matrices: pooling, convolutions
/// of each channel for itself.
bool isWindow(mlir::linalg::GenericOp op);

/// Rows (or columns) that are so few that memory is all that matters: a kernel brings each element of the other side to
/// registers once, and may compute it there from something else. Of what is only read, more than 16 go through shared
/// memory like any other matrix; more than 8, where the other side is so wide that its tiles fill a large GPU: blocks
/// with tiles share the few, which blocks of 16 results would each read for themselves.
inline constexpr int64_t kMostFew = 64, kMostFewScalar = 16; // on tensor cores, elsewhere
// Of f64 tensor cores multiply more in tiles: an H200: tn 16 x 4952 x 5088 426 us by lanes.
inline constexpr int64_t kMostFewOfDoubles = 4;
inline constexpr int64_t kMostFewRead = 16, kMostFewReadOfWide = 8, kWide = 12288;
constexpr int64_t mostFewRead(int64_t wideSize) {
  return wideSize >= kWide ? kMostFewReadOfWide : kMostFewRead;
}
inline constexpr int64_t kLeastWide = 16, kLeastReduced = 64;
struct FewRows {
  const ContractionSide *few, *wide;
  int64_t fewSize, wideSize, batchSize;
};
/// Nothing where there are more, or where sizes are unknown.
std::optional<FewRows> fewRowsOf(const Contraction &product);
/// The value before an f16 or bf16 became an f32, or an i8 an i32: products of those are exact there. Of an f8 it is
/// the byte that holds it.
mlir::Value beforeExtension(mlir::Value value);
/// What that value means: its type, or f8E4M3FN or f8E5M2.
mlir::Type factorTypeOf(mlir::Value value);
/// f8E4M3FN, f8E5M2.
bool isF8(mlir::Type type);
/// Whether an operand is indexed by sums of loops, as the image of a convolution: its elements are read several times
/// over, however few the filters are.
bool readsWindows(mlir::linalg::GenericOp op);
/// Whether an operation sums over what the windows of the image slide along, rather than over the windows: the gradient
/// of a convolution by its filters, dw[f, ky, kx, c] = sum of dy[n, y, x, f] * image[n, y + ky, x + kx, c].
/// @param image how the operation reads it
bool sumsOverPlaces(mlir::linalg::GenericOp op, mlir::AffineMap image);
/// Whether tensor cores multiply such factors without rounding them: f16, bf16, i8, f8 of either kind.
bool isForTensorCores(const Contraction &product);
/// The same, or f32 where they may be rounded to tf32 (kernel_config.h).
bool mayRoundForTensorCores(const Contraction &product);

} // namespace tenon::compiler::dispatch
