// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/channel_filters.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class ChannelFiltersOf : public KernelTextTest {
protected:
  struct Text {
    std::string images = "2", type = "bf16", row = "y * 2 + r", place = "n, y, x, c", result = "r, s, c";
    int window = 3;
    bool hasParts = false; // images are a loop of the result
  };

  /// result[r, s, c] = sum of gradient[n, y, x, c] * image[n, y * 2 + r, x + s, c], of 8 x 8 places.
  std::optional<ChannelFilters> filters(const Text &text) {
    const std::string side = std::to_string(text.window), high = std::to_string(14 + text.window),
                      wide = std::to_string(7 + text.window), parts = text.hasParts ? text.images + "x" : "";
    const std::string image = "tensor<" + text.images + "x" + high + "x" + wide + "x6x" + text.type + ">",
                      given = "tensor<" + text.images + "x8x8x6x" + text.type + ">",
                      result = "tensor<" + parts + side + "x" + side + "x6xf32>";
    const std::string loops = "affine_map<(r, s, c, n, y, x) -> (";
    const std::string extended = text.type == "f32" ? "%p = arith.mulf %a, %b : f32\n"
                                                    : "%g = arith.extf %a : " + text.type + " to f32\n" +
                                                          "%h = arith.extf %b : " + text.type + " to f32\n" +
                                                          "%p = arith.mulf %g, %h : f32\n";
    product_ = productOf(firstGeneric(
        "func.func @f(%x: " + image + ", %w: " + given + ", %o: " + result + ") -> " + result +
        " {\n%v = linalg.generic {indexing_maps = [" + loops + "n, " + text.row + ", x + s, c)>, " + loops +
        text.place + ")>, " + loops + (text.hasParts ? "n, " : "") + text.result +
        ")>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"" +
        (text.hasParts ? "parallel" : "reduction") + "\", \"reduction\", \"reduction\"]} ins(%x, %w : " + image + ", " +
        given + ") outs(%o : " + result + ") {\n^bb0(%a: " + text.type + ", %b: " + text.type + ", %s: f32):\n" +
        extended + "%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " + result + "\nreturn %v : " + result +
        "\n}"));
    return product_ ? ChannelFilters::of(*product_) : std::nullopt;
  }

  std::optional<Contraction> product_;
};

TEST_F(ChannelFiltersOf, SaysWhatIsSummedAndWhereWindowsAre) {
  const auto found = filters({});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->channel, 2u);
  EXPECT_EQ(found->summed, (llvm::SmallVector<unsigned, 3>{3, 4, 5}));
  EXPECT_TRUE(found->parts.empty());
  EXPECT_EQ(found->along(), 2u);
  EXPECT_EQ(found->down(), 1u);
  ASSERT_EQ(found->places.size(), 4u);
  EXPECT_EQ(found->places[0].loop, 3u);
  EXPECT_FALSE(found->places[0].window);
  EXPECT_EQ(found->places[1].window, 0u);
  EXPECT_EQ(found->places[1].step, 2);
  EXPECT_EQ(found->places[2].window, 1u);
  EXPECT_EQ(found->places[2].step, 1);
}

TEST_F(ChannelFiltersOf, ImagesMayBeParts) {
  const auto found = filters({.hasParts = true});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->parts, (llvm::SmallVector<unsigned, 2>{3}));
  EXPECT_EQ(found->summed, (llvm::SmallVector<unsigned, 3>{4, 5}));
  ASSERT_EQ(found->places[0].parts.size(), 1u);
}

TEST_F(ChannelFiltersOf, OtherTypesAndSizesAreNone) {
  EXPECT_TRUE(filters({.type = "f16"}));
  EXPECT_TRUE(filters({.type = "f32"}));
  EXPECT_FALSE(filters({.images = "?"}));
  EXPECT_TRUE(filters({.window = 7}));
  EXPECT_FALSE(filters({.window = 8})) << "more places than a thread has registers for";
  EXPECT_FALSE(filters({.row = "16 - y - r"})) << "backwards";
}

} // namespace
} // namespace tenon::compiler::dispatch
