// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/tile_matrices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tenon::compiler::dispatch {
namespace {

struct Size {
  int64_t results, taps;
};
constexpr Size kSizes[] = {{2, 3}, {3, 2}, {4, 3}, {3, 4}, {2, 5}, {5, 2}, {4, 5}, {5, 4}};

TEST(TileMatrices, SumsOfProductsAreWhatTheyAreWithoutThem) {
  for (auto [results, taps] : kSizes) {
    const TileMatrices made = TileMatrices::of(results, taps);
    std::vector<double> data, filter;
    for (int64_t i = 0; i < made.side; ++i)
      data.push_back(std::sin(double(3 * i + 1)));
    for (int64_t k = 0; k < taps; ++k)
      filter.push_back(std::cos(double(5 * k + 2)));
    for (int64_t i = 0; i < results; ++i) {
      double direct = 0, found = 0;
      for (int64_t k = 0; k < taps; ++k)
        direct += data[i + k] * filter[k];
      for (int64_t row = 0; row < made.side; ++row) {
        double left = 0, right = 0;
        for (int64_t k = 0; k < taps; ++k)
          left += made.filter[row * taps + k] * filter[k];
        for (int64_t k = 0; k < made.side; ++k)
          right += made.data[row * made.side + k] * data[k];
        found += made.result[i * made.side + row] * left * right;
      }
      EXPECT_NEAR(found, direct, 1e-12) << "F(" << results << ", " << taps << "), " << i;
    }
  }
}

TEST(TileMatrices, DataAndResultsAreMultipliedByWhatF32Holds) {
  for (auto [results, taps] : kSizes) {
    const TileMatrices made = TileMatrices::of(results, taps);
    for (double each : made.data)
      EXPECT_EQ(double(float(each)), each);
    for (double each : made.result)
      EXPECT_EQ(double(float(each)), each);
  }
}

TEST(TileMatrices, FiltersAreReadBackwards) {
  const TileMatrices made = TileMatrices::of(4, 3);
  const llvm::SmallVector<double> turned = made.backwards();
  for (int64_t row = 0; row < made.side; ++row)
    for (int64_t k = 0; k < 3; ++k)
      EXPECT_EQ(turned[row * 3 + k], made.filter[row * 3 + 2 - k]);
}

// What docs and benchmarks say.
TEST(TileMatrices, LargerTilesAreLessExact) {
  EXPECT_NEAR(TileMatrices::of(2, 3).growth(), 7.1, 0.1);
  EXPECT_NEAR(TileMatrices::of(3, 2).growth(), 9, 0.1);
  EXPECT_NEAR(TileMatrices::of(4, 3).growth(), 97.4, 0.1);
  EXPECT_NEAR(TileMatrices::of(3, 4).growth(), 78, 0.1);
  EXPECT_NEAR(TileMatrices::of(2, 5).growth(), 71.5, 0.1);
  EXPECT_NEAR(TileMatrices::of(5, 2).growth(), 142.4, 0.1);
  EXPECT_NEAR(TileMatrices::of(4, 5).growth(), 301, 1);
  EXPECT_NEAR(TileMatrices::of(5, 4).growth(), 373, 1);
}

// Elements below a thirtieth of f32's range do not overflow before they are multiplied.
TEST(TileMatrices, NoTransformIsMuchLargerThanItsElements) {
  for (auto [results, taps] : kSizes) {
    const TileMatrices made = TileMatrices::of(results, taps);
    for (const auto &[matrix, columns] : {std::pair(made.data, made.side), std::pair(made.filter, taps)})
      for (size_t row = 0; row < matrix.size() / columns; ++row) {
        double sum = 0;
        for (int64_t k = 0; k < columns; ++k)
          sum += std::abs(matrix[row * columns + k]);
        EXPECT_LT(sum * sum, 31) << "F(" << results << ", " << taps << ")";
      }
  }
}

} // namespace
} // namespace tenon::compiler::dispatch
