// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/size_ranges.h"

#include "tests/unit/compiler/codegen/contraction/convolutions.h"

namespace tenon::compiler::codegen {
namespace {

class SizeRangesTest : public ConvolutionTest {
protected:
  std::vector<SizeRange> rangesOf(const Sizes &sizes, bool areScalar = false) {
    const KernelFunction &kernel = convolution(sizes);
    const Product product = *Product::of(kernel, *shape_);
    EXPECT_EQ(unknownSideOf(*shape_, product), llvm::ArrayRef(product.rows));
    return areScalar ? scalarRangesOf(*shape_, product) : sizeRangesOf(*shape_, product, product.rows);
  }
  static const SizeRange &rangeOf(const std::vector<SizeRange> &ranges, int64_t rows) {
    return *llvm::find_if(ranges, [&](const SizeRange &range) { return !range.most || rows <= *range.most; });
  }
};

TEST_F(SizeRangesTest, EndWhereAnImageDoes) {
  const std::vector<SizeRange> ranges =
      rangesOf({.height = 28, .width = 28, .channels = 128, .filters = 128, .isUnknown = true});
  ASSERT_GE(ranges.size(), 2u);
  int64_t before = 0;
  for (const SizeRange &range : llvm::ArrayRef(ranges).drop_back()) {
    ASSERT_TRUE(range.most);
    EXPECT_EQ(*range.most % (28 * 28), 0);
    EXPECT_GT(*range.most, before);
    before = *range.most;
  }
  EXPECT_FALSE(ranges.back().most);
}

TEST_F(SizeRangesTest, OneImageHasPatchesOfItsOwnAndSmallTiles) {
  const std::vector<SizeRange> ranges =
      rangesOf({.height = 28, .width = 28, .channels = 128, .filters = 128, .isUnknown = true});
  const SizeRange &one = rangeOf(ranges, 28 * 28), &many = rangeOf(ranges, 512 * 28 * 28);
  EXPECT_EQ(one.images, 1);
  EXPECT_LT(one.rows * one.columns, many.rows * many.columns);
}

TEST_F(SizeRangesTest, SmallImagesSharePatches) {
  const std::vector<SizeRange> ranges =
      rangesOf({.height = 7, .width = 7, .channels = 512, .filters = 512, .isUnknown = true});
  EXPECT_EQ(rangeOf(ranges, 49).images, 1);
  EXPECT_GT(rangeOf(ranges, 32 * 49).images, 1);
}

TEST_F(SizeRangesTest, ImagesWithoutResultsHaveNoPatches) {
  const std::vector<SizeRange> ranges = rangesOf({.height = 0, .step = 1, .isUnknown = true});
  ASSERT_FALSE(ranges.empty());
  for (const SizeRange &range : ranges)
    EXPECT_EQ(range.images, 0);
}

TEST_F(SizeRangesTest, WithoutTensorCoresThereAreNoPatches) {
  const std::vector<SizeRange> ranges =
      rangesOf({.height = 28, .width = 28, .channels = 128, .filters = 128, .isUnknown = true}, true);
  ASSERT_GE(ranges.size(), 2u);
  for (const SizeRange &range : ranges)
    EXPECT_EQ(range.images, 0);
  EXPECT_EQ(rangeOf(ranges, 28 * 28).rows, 64);
  EXPECT_EQ(rangeOf(ranges, 32 * 28 * 28).columns, 64) << "392 tiles, three for each multiprocessor";
  EXPECT_EQ(ranges.back().columns, 128);
}

} // namespace
} // namespace tenon::compiler::codegen
