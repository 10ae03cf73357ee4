// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/tile_matrices.h"

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace llvm;

namespace tenon::compiler::dispatch {
namespace {

/// Powers of these, and sums of a few of their products, are f32. Of 1/2 and -2 sums grow a third of what they do of 2
/// and -2: neither are their powers alike nor do they all grow.
ArrayRef<double> pointsOf(int64_t side) {
  static constexpr double kFew[] = {0, 1, -1, 0.5, -2}, kMany[] = {0, 1, -1, 0.5, -0.5, 2, -2};
  assert((side == 4 || side == 6 || side == 8) && "tiles of other sides have no points");
  return side == 8 ? ArrayRef(kMany) : ArrayRef(kFew).take_front(side - 1);
}

/// Coefficients of the product of (x - root), lowest first.
SmallVector<double> polynomialOf(ArrayRef<double> roots) {
  SmallVector<double> all = {1};
  for (double root : roots) {
    SmallVector<double> next(all.size() + 1, 0);
    for (size_t i = 0; i < all.size(); ++i) {
      next[i] -= root * all[i];
      next[i + 1] += all[i];
    }
    all = std::move(next);
  }
  return all;
}

double sumOfSizes(ArrayRef<double> row) {
  double sum = 0;
  for (double each : row)
    sum += std::abs(each);
  return sum;
}

/// Gives both rows about the same size, by a power of two, which rounds nothing.
void balance(MutableArrayRef<double> data, MutableArrayRef<double> filter) {
  const double factor = std::exp2(std::round(std::log2(std::sqrt(sumOfSizes(filter) / sumOfSizes(data)))));
  for (double &each : data)
    each *= factor;
  for (double &each : filter)
    each /= factor;
}

} // namespace

TileMatrices TileMatrices::of(int64_t results, int64_t taps) {
  const int64_t side = results + taps - 1;
  const ArrayRef<double> points = pointsOf(side);
  TileMatrices made{results, taps, side, {}, {}, {}};
  made.data.assign(side * side, 0);
  made.filter.assign(side * taps, 0);
  made.result.assign(results * side, 0);
  for (auto [row, point] : enumerate(points)) {
    SmallVector<double> others;
    double scale = 1;
    for (double other : points)
      if (other != point) {
        others.push_back(other);
        scale *= point - other;
      }
    copy(polynomialOf(others), made.data.begin() + row * side);
    double power = 1;
    for (int64_t k = 0; k < std::max(taps, results); ++k, power *= point) {
      if (k < taps)
        made.filter[row * taps + k] = power / scale;
      if (k < results)
        made.result[k * side + row] = power;
    }
  }
  copy(polynomialOf(points), made.data.begin() + (side - 1) * side);
  made.filter.back() = made.result.back() = 1;
  for (int64_t row = 0; row < side; ++row)
    balance(MutableArrayRef(made.data).slice(row * side, side), MutableArrayRef(made.filter).slice(row * taps, taps));
  return made;
}

SmallVector<double> TileMatrices::backwards() const {
  SmallVector<double> turned(filter);
  for (int64_t row = 0; row < side; ++row)
    std::reverse(turned.begin() + row * taps, turned.begin() + (row + 1) * taps);
  return turned;
}

double TileMatrices::growth() const {
  double most = 0;
  for (int64_t i = 0; i < results; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < side; ++j)
      sum += std::abs(result[i * side + j]) * sumOfSizes(ArrayRef(filter).slice(j * taps, taps)) *
             sumOfSizes(ArrayRef(data).slice(j * side, side));
    most = std::max(most, sum / double(taps));
  }
  return most * most;
}

} // namespace tenon::compiler::dispatch
