// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/channel_form.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class ChannelFormTest : public KernelTest {
protected:
  struct Sizes {
    int64_t images = 2, height = 14, width = 14, channels = 64, step = 1, window = 3;
    std::string type = "bf16";
  };

  /// result[r, s, c] = sum of gradient[n, y, x, c] * image[n, y * step + r, x * step + s, c].
  std::optional<ChannelForm> form(const Sizes &sizes) {
    const std::string step = std::to_string(sizes.step);
    const std::string image = tensorText({sizes.images, (sizes.height - 1) * sizes.step + sizes.window,
                                          (sizes.width - 1) * sizes.step + sizes.window, sizes.channels},
                                         sizes.type),
                      given = tensorText({sizes.images, sizes.height, sizes.width, sizes.channels}, sizes.type),
                      result = tensorText({sizes.window, sizes.window, sizes.channels}, "f32");
    const std::string loops = "affine_map<(r, s, c, n, y, x) -> ";
    const std::string extended = sizes.type == "f32" ? "%p = arith.mulf %x, %y : f32\n"
                                                     : "%g = arith.extf %x : " + sizes.type +
                                                           " to f32\n%h = arith.extf %y : " + sizes.type +
                                                           " to f32\n%p = arith.mulf %g, %h : f32\n";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%a: " + image + ", %b: " + given + ", %c: " + result + ") -> (" + result +
        ") {\n%v = linalg.generic {indexing_maps = [" + loops + "(n, y * " + step + " + r, x * " + step +
        " + s, c)>, " + loops + "(n, y, x, c)>, " + loops +
        "(r, s, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\", "
        "\"reduction\"]} ins(%a, %b : " +
        image + ", " + given + ") outs(%c : " + result + ") {\n^bb0(%x: " + sizes.type + ", %y: " + sizes.type +
        ", %s: f32):\n" + extended + "%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " + result +
        "\nreturn %v : " + result + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    return ChannelForm::of(*kernel_, *shape_);
  }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
};

TEST_F(ChannelFormTest, HasTheSizesOfTheGradient) {
  const auto found = form({.step = 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->channels(), 64);
  EXPECT_EQ(found->windowPlaces(), 9);
  EXPECT_EQ(found->parts(), 1);
  EXPECT_EQ(found->down().step, 2);
  EXPECT_EQ(found->along().length, 14);
}

// What windows step over is not read; what several meet is read once.
TEST_F(ChannelFormTest, ALineMeetsEachPlaceOnce) {
  using Places = llvm::SmallVector<int64_t>;
  EXPECT_EQ(form({})->along().met(2), (Places{0, 1, 2, 3}));
  EXPECT_EQ(form({.step = 2})->along().met(2), (Places{0, 1, 2, 3, 4}));
  EXPECT_EQ(form({.step = 4})->along().met(2), (Places{0, 1, 2, 4, 5, 6}));
}

// Patches are divisors of what there is: no place is met twice, and none is left out.
TEST_F(ChannelFormTest, TilesDivideAllSizes) {
  for (const char *type : {"bf16", "f32"})
    for (int64_t channels : {1, 2, 9, 34, 64, 1152})
      for (int64_t width : {1, 7, 13, 56})
        for (int64_t window : {2, 3, 5, 7}) {
          const auto found = form(
              {.images = 3, .height = 10, .width = width + 9, .channels = channels, .window = window, .type = type});
          ASSERT_TRUE(found) << channels << ' ' << width << ' ' << window;
          const ChannelTile tile = ChannelTile::of(*found);
          EXPECT_EQ(10 % tile.lines, 0);
          EXPECT_EQ((width + 9) % tile.run, 0);
          EXPECT_EQ(tile.chunks(*found) * tile.across * tile.lanes, channels);
          EXPECT_EQ(tile.patches(*found) * tile.lines * tile.run, 3 * 10 * (width + 9));
          EXPECT_LE(tile.teams() * tile.across, kChannelThreads);
          EXPECT_LE(tile.kept(*found), 104) << "registers of two blocks";
        }
}

} // namespace
} // namespace tenon::compiler::codegen
