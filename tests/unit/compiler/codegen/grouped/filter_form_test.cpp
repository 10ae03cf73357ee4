// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/filter_form.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class GroupedFilterFormTest : public KernelTest {
protected:
  struct Sizes {
    int64_t images = 2, height = 14, width = 14, groups = 32, channels = 4, filters = 4, step = 1, window = 3;
  };

  /// result[g, f, r, s, c] = sum of gradient[n, y, x, g, f] * image[n, y * step + r, x * step + s, g, c].
  std::optional<GroupedFilterForm> form(const Sizes &sizes) {
    const std::string step = std::to_string(sizes.step);
    const std::string image = tensorText({sizes.images, (sizes.height - 1) * sizes.step + sizes.window,
                                          (sizes.width - 1) * sizes.step + sizes.window, sizes.groups, sizes.channels},
                                         "bf16"),
                      given =
                          tensorText({sizes.images, sizes.height, sizes.width, sizes.groups, sizes.filters}, "bf16"),
                      result =
                          tensorText({sizes.groups, sizes.filters, sizes.window, sizes.window, sizes.channels}, "f32");
    const std::string loops = "affine_map<(g, f, r, s, c, n, y, x) -> ";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%a: " + image + ", %b: " + given + ", %c: " + result + ") -> (" + result +
        ") {\n%v = linalg.generic {indexing_maps = [" + loops + "(n, y * " + step + " + r, x * " + step +
        " + s, g, c)>, " + loops + "(n, y, x, g, f)>, " + loops +
        "(g, f, r, s, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"parallel\", "
        "\"reduction\", \"reduction\", \"reduction\"]} ins(%a, %b : " +
        image + ", " + given + ") outs(%c : " + result +
        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%g = arith.extf %x : bf16 to f32\n%h = arith.extf %y : bf16 to "
        "f32\n%p = arith.mulf %g, %h : f32\n%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " +
        result + "\nreturn %v : " + result + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    return GroupedFilterForm::of(*kernel_, *shape_);
  }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
};

TEST_F(GroupedFilterFormTest, HasTheSizesOfTheGradient) {
  const auto found = form({.groups = 8, .channels = 8, .filters = 16, .step = 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->groups, 8);
  EXPECT_EQ(found->channels, 8);
  EXPECT_EQ(found->filters, 16);
  EXPECT_EQ(found->windowPlaces(), 9);
  EXPECT_EQ(found->lineGroups, 2);
  EXPECT_EQ(found->lines(), 4);
  EXPECT_EQ(found->parts(), 1);
  EXPECT_TRUE(found->isLastInMemory(found->image));
  EXPECT_TRUE(found->isLastInMemory(found->gradient));
}

// Every result has a warp, whatever the sizes; tiles fit a block and cover all places.
TEST_F(GroupedFilterFormTest, UnitsAndTilesFitABlock) {
  for (int64_t channels : {4, 8, 16, 32})
    for (int64_t filters : {4, 8, 16, 32, 64})
      for (int64_t width : {1, 7, 56, 113}) {
        const auto found = form({.height = 5, .width = width, .groups = 6, .channels = channels, .filters = filters});
        ASSERT_TRUE(found) << channels << ' ' << filters << ' ' << width;
        const FilterUnits units(*found);
        EXPECT_LE(units.count(), kFilterWarps);
        EXPECT_GE(units.chunks * units.places, 9);
        EXPECT_EQ(units.blocks * 16, found->lineGroups * filters);
        EXPECT_TRUE(units.fragments == 1 || units.fragments % 2 == 0) << "two are read at once";
        const auto tile = FilterTile::of(*found);
        ASSERT_TRUE(tile);
        EXPECT_LE(tile->sharedBytes(), 48 * 1024);
        EXPECT_GE(tile->tilesOf(*found) * tile->places, 2 * 5 * width);
      }
}

TEST_F(GroupedFilterFormTest, LargeWindowsAreSharedByWarpsOrLeftToOthers) {
  const auto found = form({.channels = 16, .filters = 16, .window = 5});
  ASSERT_TRUE(found);
  EXPECT_LE(FilterUnits(*found).places, 13);
  EXPECT_FALSE(form({.channels = 32, .filters = 64, .window = 9}));
}

// A patch reaches as far as the windows of its places do.
TEST_F(GroupedFilterFormTest, APatchHasAllThatItsWindowsMeet) {
  const auto found = form({.step = 2});
  ASSERT_TRUE(found);
  const FilterTile tile(*found, {1, 4, 3});
  EXPECT_EQ(tile.places, 12);
  EXPECT_EQ(tile.wholePlaces(), 16);
  EXPECT_EQ(tile.extents, (llvm::SmallVector<int64_t>{1, 9, 7, 1, 1}));
  EXPECT_EQ(tile.positions, 63);
}

} // namespace
} // namespace tenon::compiler::codegen
