// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/grouped.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class GroupedWindowsOf : public KernelTextTest {
protected:
  struct Text {
    std::string images = "2";
    int groups = 4, channels = 8, filters = 16, window = 3, step = 1;
    std::string type = "bf16", last = "x * STEP + s";
  };

  /// result[n, y, x, g, f] = sum of image[n, y * step + r, x * step + s, g, c] * filters[g, f, r, s, c], of 8 x 8.
  std::optional<GroupedWindows> grouped(const Text &text) {
    auto number = [](int value) { return std::to_string(value); };
    std::string last = text.last;
    if (const size_t at = last.find("STEP"); at != std::string::npos)
      last.replace(at, 4, number(text.step));
    const std::string side = number(7 * text.step + text.window), groups = number(text.groups),
                      channels = number(text.channels), filters = number(text.filters), window = number(text.window);
    const std::string image = "tensor<" + text.images + "x" + side + "x" + side + "x" + groups + "x" + channels + "x" +
                              text.type + ">",
                      weights = "tensor<" + groups + "x" + filters + "x" + window + "x" + window + "x" + channels +
                                "x" + text.type + ">",
                      result = "tensor<" + text.images + "x8x8x" + groups + "x" + filters + "xf32>";
    const std::string loops = "affine_map<(n, y, x, g, f, r, s, c) -> ";
    const std::string extended = text.type == "f32" ? "%p = arith.mulf %a, %b : f32\n"
                                                    : "%g = arith.extf %a : " + text.type + " to f32\n" +
                                                          "%h = arith.extf %b : " + text.type + " to f32\n" +
                                                          "%p = arith.mulf %g, %h : f32\n";
    product_ = contractionOf(firstGeneric(
        "func.func @f(%x: " + image + ", %w: " + weights + ", %o: " + result + ") -> " + result +
        " {\n%v = linalg.generic {indexing_maps = [" + loops + "(n, y * " + number(text.step) + " + r, " + last +
        ", g, c)>, " + loops + "(g, f, r, s, c)>, " + loops +
        "(n, y, x, g, f)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"parallel\", "
        "\"reduction\", \"reduction\", \"reduction\"]} ins(%x, %w : " +
        image + ", " + weights + ") outs(%o : " + result + ") {\n^bb0(%a: " + text.type + ", %b: " + text.type +
        ", %s: f32):\n" + extended + "%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " + result +
        "\nreturn %v : " + result + "\n}"));
    return product_ ? GroupedWindows::of(*product_) : std::nullopt;
  }

  std::optional<Contraction> product_;
};

TEST_F(GroupedWindowsOf, SaysWhatSlidesAndWhatDoesNot) {
  const auto found = grouped({.step = 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->group, 3u);
  EXPECT_EQ(found->channel, 7u);
  EXPECT_EQ(found->columns, (llvm::SmallVector<unsigned, 2>{4}));
  EXPECT_EQ(found->outer, (llvm::SmallVector<unsigned, 2>{0}));
  ASSERT_EQ(found->places.size(), 2u);
  EXPECT_EQ(found->places[0].dimension, 1u);
  EXPECT_EQ(found->places[0].loop, 1u);
  EXPECT_EQ(found->places[0].window, 5u);
  EXPECT_EQ(found->places[1].loop, 2u);
  EXPECT_EQ(found->places[1].step, 2);
  EXPECT_EQ(found->places[1].apart, 1);
}

TEST_F(GroupedWindowsOf, ImagesMayBeOfAnUnknownNumber) {
  EXPECT_TRUE(grouped({.images = "?"}));
}

TEST_F(GroupedWindowsOf, ElementsAreF16Bf16OrF32) {
  EXPECT_TRUE(grouped({.type = "f16"}));
  EXPECT_TRUE(grouped({.type = "f32"}));
}

TEST_F(GroupedWindowsOf, ManyChannelsOrFiltersOrOneGroupAreNone) {
  EXPECT_TRUE(grouped({.channels = 32}));
  EXPECT_FALSE(grouped({.channels = 33}));
  EXPECT_TRUE(grouped({.filters = 64}));
  EXPECT_FALSE(grouped({.filters = 65}));
  EXPECT_FALSE(grouped({.groups = 1}));
  EXPECT_FALSE(grouped({.channels = 32, .window = 5})) << "800 reduced elements";
}

TEST_F(GroupedWindowsOf, WhatSlidesBackwardsIsNone) {
  EXPECT_FALSE(grouped({.last = "7 - x + s"}));
}

} // namespace
} // namespace tenon::compiler::dispatch
