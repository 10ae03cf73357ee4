// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/band_form.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "llvm/ADT/SmallSet.h"

namespace tenon::compiler::codegen {
namespace {

class BandFormTest : public KernelTest {
protected:
  struct Sizes {
    int64_t images = 32, height = 28, width = 28, channels = 240, step = 1, window = 5;
  };

  /// result[n, y, x, c] = sum of image[n, y * step + r, x * step + s, c] * filters[r, s, c].
  std::optional<BandForm> form(const Sizes &sizes) {
    const std::string step = std::to_string(sizes.step);
    const std::string image = tensorText({sizes.images, (sizes.height - 1) * sizes.step + sizes.window,
                                          (sizes.width - 1) * sizes.step + sizes.window, sizes.channels},
                                         "bf16"),
                      filters = tensorText({sizes.window, sizes.window, sizes.channels}, "bf16"),
                      result = tensorText({sizes.images, sizes.height, sizes.width, sizes.channels}, "f32");
    const std::string loops = "affine_map<(n, y, x, c, r, s) -> ";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%a: " + image + ", %b: " + filters + ", %c: " + result + ") -> (" + result +
        ") {\n%v = linalg.generic {indexing_maps = [" + loops + "(n, y * " + step + " + r, x * " + step +
        " + s, c)>, " + loops + "(r, s, c)>, " + loops +
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

TEST_F(BandFormTest, OfLargeWindowsAndLayersTheyAreWorthIt) {
  EXPECT_TRUE(isWorthBands(*form({})));
  EXPECT_TRUE(isWorthBands(*form({.height = 56, .width = 56, .channels = 96, .window = 7})));
  EXPECT_FALSE(isWorthBands(*form({.window = 3}))) << "memory limits these without tensor cores";
  EXPECT_FALSE(isWorthBands(*form({.step = 2})));
  EXPECT_FALSE(isWorthBands(*form({.images = 1}))) << "a block would have one patch";
}

TEST_F(BandFormTest, PatchesHaveAllResultsAndFit) {
  for (const Sizes &sizes :
       {Sizes{}, Sizes{.window = 7}, Sizes{.step = 2}, Sizes{.images = 1, .height = 3, .width = 61},
        Sizes{.images = 5, .height = 7, .width = 7, .channels = 8}}) {
    const auto found = form(sizes);
    ASSERT_TRUE(found);
    const auto tile = BandTile::of(*found);
    ASSERT_TRUE(tile);
    BandGeometry geometry(*found, *tile);
    geometry.padRows();
    EXPECT_EQ(tile->high * tile->wide, BandTile::kColumns);
    EXPECT_LE(geometry.sharedBytes(), 64 << 10);
    EXPECT_GE(tile->patchesOf(*found) * tile->images * tile->lines * tile->high * tile->across * tile->wide,
              sizes.images * sizes.height * sizes.width);
    EXPECT_GE(patchesOfBlock(*found, *tile) * blocksOf(*found, *tile),
              tile->patchesOf(*found) * tile->chunksOf(*found));
    // A lane's two places are one word; eight channels lie half the banks apart.
    EXPECT_EQ(geometry.pitch % 2, 0);
    EXPECT_EQ(geometry.pieceStep % 2, 0);
    EXPECT_EQ(geometry.plane / 2 * 8 % 32, 16);
    // Units meet all that the windows of a piece do.
    EXPECT_GE(geometry.units * 8, found->down().spanOf(tile->high) * found->along().spanOf(tile->wide));
  }
}

TEST_F(BandFormTest, LanesMeetDifferentBanks) {
  const auto found = form({.window = 7});
  ASSERT_TRUE(found);
  BandTile tile;
  tile.high = 4, tile.wide = 2, tile.lines = 2, tile.across = 7, tile.images = 2;
  BandGeometry geometry(*found, tile);
  geometry.padRows();
  llvm::SmallSet<int64_t, 32> words, banks;
  for (int64_t lane = 0; lane < 32; ++lane) {
    const int64_t word = geometry.pieceAt(lane / 4) / 2 + lane % 4;
    words.insert(word);
    banks.insert(word % 32);
  }
  EXPECT_EQ(words.size(), banks.size());
}

} // namespace
} // namespace tenon::compiler::codegen
