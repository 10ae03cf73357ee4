// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/form.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class GroupedFormTest : public KernelTest {
protected:
  struct Sizes {
    int64_t height = 14, width = 14, groups = 32, channels = 4, filters = 4, step = 1;
    std::string type = "bf16";
    int64_t images = 2;
  };

  /// result[n, y, x, g, f] = sum of image[n, y * step + r, x * step + s, g, c] * filters[g, f, r, s, c]; 3 x 3.
  std::optional<GroupedForm> form(const Sizes &sizes) {
    const std::string step = std::to_string(sizes.step);
    const std::string image = tensorText({sizes.images, (sizes.height - 1) * sizes.step + 3,
                                          (sizes.width - 1) * sizes.step + 3, sizes.groups, sizes.channels},
                                         sizes.type),
                      filters = tensorText({sizes.groups, sizes.filters, 3, 3, sizes.channels}, sizes.type),
                      result =
                          tensorText({sizes.images, sizes.height, sizes.width, sizes.groups, sizes.filters}, "f32");
    const std::string loops = "affine_map<(n, y, x, g, f, r, s, c) -> ";
    const std::string multiplied = sizes.type == "f32" ? "%p = arith.mulf %x, %y : f32\n"
                                                       : "%g = arith.extf %x : " + sizes.type +
                                                             " to f32\n%h = arith.extf %y : " + sizes.type +
                                                             " to f32\n%p = arith.mulf %g, %h : f32\n";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%a: " + image + ", %b: " + filters + ", %c: " + result + ") -> (" + result +
        ") {\n%v = linalg.generic {indexing_maps = [" + loops + "(n, y * " + step + " + r, x * " + step +
        " + s, g, c)>, " + loops + "(g, f, r, s, c)>, " + loops +
        "(n, y, x, g, f)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"parallel\", "
        "\"reduction\", \"reduction\", \"reduction\"]} ins(%a, %b : " +
        image + ", " + filters + ") outs(%c : " + result + ") {\n^bb0(%x: " + sizes.type + ", %y: " + sizes.type +
        ", %s: f32):\n" + multiplied + "%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " + result +
        "\nreturn %v : " + result + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    return GroupedForm::of(*kernel_, *shape_);
  }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
};

TEST_F(GroupedFormTest, HasTheSizesOfTheConvolution) {
  const auto found = form({.height = 7, .width = 9, .groups = 8, .channels = 12, .filters = 6, .step = 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->groups, 8);
  EXPECT_EQ(found->channels, 12);
  EXPECT_EQ(found->columns, 6);
  EXPECT_EQ(found->windowPlaces(), 9);
  EXPECT_EQ(found->elementBytes, 2u);
  EXPECT_TRUE(found->isLastInMemory());
  ASSERT_EQ(found->places.size(), 3u);
  EXPECT_TRUE(found->hasImages);
  EXPECT_EQ(found->places[0].results, 2);
  EXPECT_EQ(found->places[0].length, 1);
  EXPECT_EQ(found->places[1].results, 7);
  EXPECT_EQ(found->places[2].results, 9);
  EXPECT_EQ(found->places[2].length, 3);
  EXPECT_EQ(found->places[2].step, 2);
  EXPECT_TRUE(found->outer.empty());
}

// Whatever the sizes, a tile fits a block, and tiles cover the results.
TEST_F(GroupedFormTest, TilesFitABlockAndCoverTheResults) {
  for (const std::string type : {"bf16", "f32"})
    for (int64_t width : {2, 7, 56, 113})
      for (int64_t groups : {2, 3, 32})
        for (int64_t channels : {2, 4, 24, 32}) {
          const auto found = form({.height = 5, .width = width, .groups = groups, .channels = channels, .type = type});
          ASSERT_TRUE(found) << type << ' ' << width << ' ' << groups << ' ' << channels;
          const auto tile = GroupedTile::of(*found);
          ASSERT_TRUE(tile) << type << ' ' << width << ' ' << groups << ' ' << channels;
          const GroupedGeometry geometry(*found, *tile);
          EXPECT_LE(geometry.sharedBytes, 48 * 1024);
          EXPECT_GE(tile->tilesOf(*found) * tile->results() * tile->groups, 2 * 5 * width * groups);
          EXPECT_LE(tile->groups, groups);
          EXPECT_EQ(tile->sides.size(), 3u);
        }
}

TEST_F(GroupedFormTest, NeighbouringGroupsShareALine) {
  for (int64_t channels : {4, 8, 16}) {
    const auto found = form({.groups = 32, .channels = channels, .filters = channels});
    ASSERT_TRUE(found);
    const auto tile = GroupedTile::of(*found);
    ASSERT_TRUE(tile);
    EXPECT_GT(tile->groups, 1) << channels;
    EXPECT_EQ(32 % tile->groups, 0) << channels;
    EXPECT_LE(tile->groups * channels * 2, 128) << "bytes";
  }
}

// Filters of 32 channels are more bytes than a small image of them.
TEST_F(GroupedFormTest, SmallImagesShareFiltersWhereBlocksAreEnough) {
  Sizes sizes{.height = 7, .width = 7, .channels = 32, .filters = 32, .images = 32};
  EXPECT_EQ(GroupedTile::of(*form(sizes))->sides, (llvm::SmallVector<int64_t>{2, 7, 7}));
  sizes.images = 8;
  EXPECT_EQ(GroupedTile::of(*form(sizes))->sides, (llvm::SmallVector<int64_t>{1, 7, 7}));
}

// A patch reaches as far as the windows of its results do.
TEST_F(GroupedFormTest, APatchHasAllThatItsWindowsMeet) {
  const auto found = form({.step = 2});
  ASSERT_TRUE(found);
  const GroupedGeometry geometry(*found, {{2, 4, 3}, 2});
  EXPECT_EQ(geometry.extents, (llvm::SmallVector<int64_t>{2, 9, 7}));
  EXPECT_EQ(geometry.positions, 126);
  EXPECT_EQ(geometry.quads, 9);
  EXPECT_EQ(geometry.steps, 3);
  EXPECT_EQ(geometry.columns, 8) << "whole fragments";
}

} // namespace
} // namespace tenon::compiler::codegen
