// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/patches.h"

#include "tests/unit/compiler/codegen/contraction/convolutions.h"

namespace tenon::compiler::codegen {
namespace {

using Sides = std::vector<int64_t>;

class PatchesTest : public ConvolutionTest {
protected:
  Sides rowsOf(const Sizes &sizes, int64_t rows = 128) {
    const KernelFunction &kernel = convolution(sizes);
    const Patches patches = patchesOfRows(*shape_, *Product::of(kernel, *shape_), rows);
    return Sides(patches.sides.begin(), patches.sides.end());
  }
  Sides reducedOf(const Sizes &sizes) {
    const KernelFunction &kernel = convolution(sizes);
    const Patches patches = patchesOfReduced(*shape_, *Product::of(kernel, *shape_), 64);
    return Sides(patches.sides.begin(), patches.sides.end());
  }
  Sides placesOf(const Sizes &sizes) {
    const KernelFunction &kernel = gradient(sizes);
    const Patches patches = patchesOfReduced(*shape_, *Product::of(kernel, *shape_), 64);
    return Sides(patches.sides.begin(), patches.sides.end());
  }
};

TEST_F(PatchesTest, CoverAnImageWithTheFewestNumbers) {
  EXPECT_EQ(rowsOf({.images = 32, .height = 56, .width = 56}), (Sides{2, 8, 8}));
  EXPECT_EQ(rowsOf({.images = 32, .height = 14, .width = 14}), (Sides{32, 2, 2}));
  EXPECT_EQ(rowsOf({.images = 1, .height = 16, .width = 128}), (Sides{1, 1, 128})) << "wide ones first";
  EXPECT_EQ(rowsOf({.images = 32, .height = 56, .width = 56}, 64), (Sides{1, 8, 8}));
}

TEST_F(PatchesTest, CoverAnyNumberOfImages) {
  const Sides sides = rowsOf({.height = 14, .width = 14, .isUnknown = true});
  EXPECT_EQ(sides, rowsOf({.images = 8, .height = 14, .width = 14}));
  EXPECT_EQ(sides.size(), 3u);
}

TEST_F(PatchesTest, HaveAsManyImagesAsIsSaid) {
  const KernelFunction &kernel = convolution({.height = 14, .width = 14, .isUnknown = true});
  Product product = *Product::of(kernel, *shape_);
  for (int64_t images : {1, 4, 64}) {
    product.imagesOfPatch = images;
    const Patches patches = patchesOfRows(*shape_, product, 64);
    ASSERT_EQ(patches.sides.size(), 3u);
    EXPECT_EQ(patches.sides.front(), images);
    EXPECT_EQ(patches.size(), 64);
  }
  product.imagesOfPatch = 128;
  EXPECT_FALSE(patchesOfRows(*shape_, product, 64)) << "more than a patch has positions";
}

TEST_F(PatchesTest, CountNumbersBeyondTheEndOfAnAxis) {
  const Patches patches{{16, 1, 8}};
  EXPECT_EQ(patches.size(), 128);
  EXPECT_EQ(patches.count({32, 7, 7}), 32 * 7 * 8);
  EXPECT_EQ(patches.count({1, 7, 9}), 16 * 7 * 16);
}

TEST_F(PatchesTest, AStepIsOnePlaceOfTheWindow) {
  EXPECT_EQ(reducedOf({.channels = 64}), (Sides{1, 1, 64}));
  EXPECT_EQ(reducedOf({.channels = 40}), (Sides{1, 1, 64}));
  EXPECT_EQ(reducedOf({.channels = 24}), Sides()) << "most of it would be zeros";
}

TEST_F(PatchesTest, AStepOfASumOverPlacesIsOnePatchOrSeveral) {
  EXPECT_EQ(placesOf({.images = 2, .height = 56, .width = 56}), (Sides{1, 8, 8}));
  EXPECT_EQ(placesOf({.images = 16, .height = 14, .width = 14}), (Sides{16, 2, 2}));
  EXPECT_EQ(placesOf({.images = 32, .height = 7, .width = 7}), (Sides{32, 1, 1})) << "two of them";
  EXPECT_EQ(placesOf({.images = 4, .height = 14, .width = 14}), (Sides{4, 2, 2})) << "four of them";
}

TEST_F(PatchesTest, OnlyImagesAreLeftByAPatchOfPlaces) {
  EXPECT_EQ(placesOf({.images = 5, .height = 7, .width = 7}), (Sides{8, 1, 1})) << "no image is behind the last";
  EXPECT_EQ(placesOf({.images = 1, .height = 7, .width = 9}), Sides())
      << "a place behind the last has an element of the image";
}

} // namespace
} // namespace tenon::compiler::codegen
