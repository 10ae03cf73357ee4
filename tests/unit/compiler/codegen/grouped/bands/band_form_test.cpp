// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/bands/band_form.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class BandFormTest : public KernelTest {
protected:
  struct Sizes {
    int64_t images = 32, height = 28, width = 28, channels = 240, step = 1, window = 5; // images: 0, unknown
  };

  /// result[n, y, x, c] = sum of image[n, y * step + r, x * step + s, c] * filters[r, s, c].
  std::optional<BandForm> form(const Sizes &sizes) {
    const std::string step = std::to_string(sizes.step);
    auto unknown = [&](std::string text) { return sizes.images == 0 ? text.replace(text.find("<0x"), 2, "<?") : text; };
    const std::string image = unknown(tensorText({sizes.images, (sizes.height - 1) * sizes.step + sizes.window,
                                                  (sizes.width - 1) * sizes.step + sizes.window, sizes.channels},
                                                 "bf16")),
                      filters = tensorText({sizes.window, sizes.window, sizes.channels}, "bf16"),
                      result = unknown(tensorText({sizes.images, sizes.height, sizes.width, sizes.channels}, "f32"));
    const std::string loops = "affine_map<(n, y, x, c, r, s) -> ",
                      dims = sizes.images == 0 ? " {tenon.dims = array<i64: 0>}" : "";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(" + std::string(sizes.images == 0 ? "%n: index, " : "") + "%a: " + image + dims + ", %b: " +
        filters + ", %c: " + result + dims + ") -> (" + result + dims + ") {\n%v = linalg.generic {indexing_maps = [" +
        loops + "(n, y * " + step + " + r, x * " + step + " + s, c)>, " + loops + "(r, s, c)>, " + loops +
        "(n, y, x, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", "
        "\"reduction\"]} ins(%a, %b : " +
        image + ", " + filters + ") outs(%c : " + result +
        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%g = arith.extf %x : bf16 to f32\n%h = arith.extf %y : bf16 to f32\n"
        "%p = arith.mulf %g, %h : f32\n%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " +
        result + "\nreturn %v : " + result + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    return BandForm::of(*kernel_, *shape_);
  }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
};

TEST_F(BandFormTest, SeesHowWindowsSlide) {
  const auto found = form({});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->images(), 32);
  EXPECT_EQ(found->channels(), 240);
  EXPECT_EQ(found->down().window, 5);
  EXPECT_EQ(found->along().spanOf(4), 8);
  EXPECT_FALSE(form({.window = 1}));
  EXPECT_FALSE(form({.channels = 20})) << "no whole vectors";
}

TEST_F(BandFormTest, OfLargeWindowsTheyAreWorthIt) {
  EXPECT_TRUE(isWorthBands(*form({})));
  EXPECT_TRUE(isWorthBands(*form({.height = 56, .width = 56, .channels = 96, .window = 7})));
  EXPECT_TRUE(isWorthBands(*form({.images = 1, .height = 56, .width = 56, .window = 7})));
  EXPECT_FALSE(isWorthBands(*form({.window = 3}))) << "memory limits these without tensor cores";
  EXPECT_FALSE(isWorthBands(*form({.step = 2})));
  EXPECT_FALSE(isWorthBands(*form({.height = 14, .width = 14, .window = 7}))) << "most lines are on their way";
}

TEST_F(BandFormTest, OfAnUnknownNumberOfImagesBlocksAreOneWave) {
  const auto found = form({.images = 0});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->knowsImages());
  EXPECT_TRUE(found->areImagesWhole(1));
  EXPECT_FALSE(found->areImagesWhole(2));
  EXPECT_TRUE(isWorthBands(*found));
  const int64_t blocks = blocksOf(*found, *BandTile::of(*found));
  EXPECT_EQ(blocks % BandTile::of(*found)->chunksOf(*found), 0);
  EXPECT_GT(blocks, 200);
  EXPECT_LE(blocks, 264);
}

TEST_F(BandFormTest, RegistersDecideHowManyChannelsAWarpHas) {
  EXPECT_EQ(BandTile::of(*form({.window = 7}))->vector, 8);
  EXPECT_EQ(BandTile::of(*form({.window = 13}))->vector, 4);
  EXPECT_FALSE(BandTile::of(*form({.height = 56, .width = 56, .window = 16})));
}

TEST_F(BandFormTest, TilesHaveAllResultsAndFit) {
  for (const Sizes &sizes :
       {Sizes{}, Sizes{.window = 7}, Sizes{.window = 13}, Sizes{.step = 2},
        Sizes{.images = 1, .height = 3, .width = 61}, Sizes{.images = 5, .height = 7, .width = 7, .channels = 8}}) {
    const auto found = form(sizes);
    ASSERT_TRUE(found);
    const auto tile = BandTile::of(*found);
    ASSERT_TRUE(tile);
    const BandGeometry geometry(*found, *tile);
    EXPECT_LE(geometry.sharedBytes(), 64 << 10);
    EXPECT_GE(tile->tilesOf(*found) * geometry.pairs * BandTile::kLines * BandTile::kPlaces,
              sizes.images * sizes.height * sizes.width);
    EXPECT_GE(pairsOfBlock(*found, *tile) * blocksOf(*found, *tile),
              tile->tilesOf(*found) * geometry.pairs * tile->chunksOf(*found));
    // Groups meet all that the windows of a piece do, and lie in the row that is brought.
    EXPECT_GE(geometry.groups * 4, found->along().spanOf(BandTile::kWide));
    EXPECT_GE(geometry.places,
              found->along().spanOf(std::min(tile->across() * BandTile::kWide, found->along().results)));
    // Each row of the window is met by lines of one age, and by rows that the period has.
    for (int64_t down = 0; down < geometry.window; ++down) {
      EXPECT_LE(geometry.ageOf(down), geometry.delay);
      EXPECT_EQ(geometry.ageOf(down) * geometry.newRows + geometry.rowOf(down), down * geometry.apart + geometry.shift);
      EXPECT_LT(geometry.rowOf(down) + geometry.step, geometry.newRows + geometry.keptRows);
    }
  }
}

TEST_F(BandFormTest, PeriodsThatMeetNothingOfTheImageAreSkipped) {
  // A border of nine rows has windows that meet nothing: they have results all the same.
  for (const auto &[window, border, size] : {std::tuple(5, 2, 14), {7, 3, 14}, {5, 0, 14}, {3, 9, 8}, {7, 2, 9}}) {
    auto found = form({.height = size, .width = size, .window = window});
    ASSERT_TRUE(found);
    found->loops.down->offset = -border;
    const BandGeometry geometry(*found, *BandTile::of(*found));
    EXPECT_EQ(geometry.skipped > 0, border > 0) << window << " " << border;
    EXPECT_LE(geometry.skipped, geometry.before());
    // The last row of a period that is skipped, and of those that the first one would have kept.
    const int64_t before =
        geometry.offset - geometry.shift + geometry.skipped * geometry.newRows + geometry.keptRows - 1;
    if (geometry.skipped > 0) {
      EXPECT_LT(before, 0) << window << " " << border;
    }
    for (int64_t down = 0; down < geometry.window; ++down)
      EXPECT_LE(geometry.ageOf(down), geometry.delay);
  }
}

TEST_F(BandFormTest, FewPiecesOfARowAreThoseOfSeveralImages) {
  EXPECT_EQ(BandTile::of(*form({.height = 56, .width = 56, .window = 7}))->images, 1);
  EXPECT_EQ(BandTile::of(*form({.height = 14, .width = 14}))->images, 2);
  EXPECT_EQ(BandTile::of(*form({.height = 7, .width = 7}))->images, 4);
}

} // namespace
} // namespace tenon::compiler::codegen
