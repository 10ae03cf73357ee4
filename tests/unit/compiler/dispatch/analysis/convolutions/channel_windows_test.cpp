// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/channel_windows.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class ChannelWindowsOf : public KernelTextTest {
protected:
  struct Text {
    std::string images = "2", height = "19", type = "bf16", read = "n, y * 2 + r, x + s, c", filters = "r, s, c",
                result = "n, y, x, c";
  };

  /// result[n, y, x, c] = sum of image[n, y * 2 + r, x + s, c] * filters[r, s, c], of 8 x 8 places and 5 x 5 windows.
  std::optional<ChannelWindows> windows(const Text &text) {
    const std::string image = "tensor<" + text.images + "x" + text.height + "x12x6x" + text.type + ">",
                      filters = "tensor<5x5x6x" + text.type + ">";
    const std::string result =
        text.result == "n, y, x, c" ? "tensor<" + text.images + "x8x8x6xf32>" : "tensor<" + text.images + "x6x8x8xf32>";
    const std::string loops = "affine_map<(n, y, x, c, r, s) -> (";
    const std::string extended = text.type == "f32" ? "%p = arith.mulf %a, %b : f32\n"
                                                    : "%g = arith.extf %a : " + text.type + " to f32\n" +
                                                          "%h = arith.extf %b : " + text.type + " to f32\n" +
                                                          "%p = arith.mulf %g, %h : f32\n";
    product_ = productOf(firstGeneric(
        "func.func @f(%x: " + image + ", %w: " + filters + ", %o: " + result + ") -> " + result +
        " {\n%v = linalg.generic {indexing_maps = [" + loops + text.read + ")>, " + loops + text.filters + ")>, " +
        loops + text.result +
        ")>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", " +
        "\"reduction\"]} ins(%x, %w : " + image + ", " + filters + ") outs(%o : " + result +
        ") {\n^bb0(%a: " + text.type + ", %b: " + text.type + ", %s: f32):\n" + extended +
        "%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " + result + "\nreturn %v : " + result + "\n}"));
    return product_ ? ChannelWindows::of(*product_) : std::nullopt;
  }

  std::optional<Contraction> product_;
};

TEST_F(ChannelWindowsOf, SaysHowWindowsSlide) {
  const auto found = windows({});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->channel, 3u);
  EXPECT_EQ(found->outer, (llvm::SmallVector<unsigned, 2>{0}));
  ASSERT_TRUE(found->down);
  EXPECT_EQ(found->down->loop, 1u);
  EXPECT_EQ(found->down->window, 4u);
  EXPECT_EQ(found->down->step, 2);
  EXPECT_EQ(found->along.loop, 2u);
  EXPECT_EQ(found->along.window, 5u);
  EXPECT_EQ(found->along.step, 1);
}

// Places are counted from the first element on that a window meets.
TEST_F(ChannelWindowsOf, WindowsMayRunBackwards) {
  const auto found = windows({.read = "n, y * 2 - r + 4, x + s, c"});
  ASSERT_TRUE(found && found->down);
  EXPECT_TRUE(found->down->isBackwards);
  EXPECT_EQ(found->down->apart, 1);
  EXPECT_EQ(found->down->offset, 0);
  EXPECT_FALSE(found->along.isBackwards);
}

TEST_F(ChannelWindowsOf, OtherTypesSizesAndOrdersAreNone) {
  EXPECT_TRUE(windows({.type = "f16"}));
  EXPECT_FALSE(windows({.type = "f32"})) << "nothing multiplies these exactly but the arithmetic of f32";
  EXPECT_TRUE(windows({.images = "?"}));
  EXPECT_FALSE(windows({.height = "?"}));
  EXPECT_FALSE(windows({.read = "n, 14 - y * 2 + r, x + s, c"})) << "results backwards";
  EXPECT_FALSE(windows({.result = "n, c, y, x"})) << "channels of the results lie apart";
}

} // namespace
} // namespace tenon::compiler::dispatch
