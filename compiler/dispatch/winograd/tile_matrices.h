// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrices of Winograd's correlation F(m, r), made as Toom and Cook multiply polynomials: m sums of r products
// each,
//
//   y[i] = sum over k of d[i + k] g[k] = A^T ((G g) * (B^T d)),
//
// where * multiplies element by element: m + r - 1 products instead of m r. Each row of G and B^T stands for a point at
// which polynomials are evaluated, the last one for infinity. Of two dimensions a tile is transformed from both sides.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace tenon::compiler::dispatch {

struct TileMatrices {
  int64_t results, taps;            // m, r
  int64_t side;                     // m + r - 1
  llvm::SmallVector<double> data;   // B^T: [side][side]
  llvm::SmallVector<double> filter; // G: [side][taps]
  llvm::SmallVector<double> result; // A^T: [results][side]

  /// Of m + r - 1 = 4, 6 or 8.
  static TileMatrices of(int64_t results, int64_t taps);

  /// G of filters that are read backwards.
  llvm::SmallVector<double> backwards() const;
  /// How many times larger than the sum of the products' sizes a sum of what is rounded can be, of a tile in two
  /// dimensions whose elements are all of one size: the bound of an error is so many times that of the sums themselves.
  double growth() const;
};

} // namespace tenon::compiler::dispatch
