// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/grouped_filters.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class GroupedFiltersOf : public KernelTextTest {
protected:
  struct Text {
    std::string images = "2";
    int groups = 4, channels = 8, filters = 16, step = 1;
    std::string type = "bf16", row = "y * STEP + r";
    bool hasParts = false; // images are a loop of the result
  };

  /// result[g, f, r, s, c] = sum of gradient[n, y, x, g, f] * image[n, y * step + r, x * step + s, g, c]; 3 x 3, of 8
  /// x 8.
  std::optional<GroupedFilters> filters(const Text &text) {
    auto number = [](int value) { return std::to_string(value); };
    std::string row = text.row;
    if (const size_t at = row.find("STEP"); at != std::string::npos)
      row.replace(at, 4, number(text.step));
    const std::string side = number(7 * text.step + 3), groups = number(text.groups), channels = number(text.channels),
                      count = number(text.filters), parts = text.hasParts ? text.images + "x" : "";
    const std::string image = "tensor<" + text.images + "x" + side + "x" + side + "x" + groups + "x" + channels + "x" +
                              text.type + ">",
                      given = "tensor<" + text.images + "x8x8x" + groups + "x" + count + "x" + text.type + ">",
                      result = "tensor<" + parts + groups + "x" + count + "x3x3x" + channels + "xf32>";
    const std::string loops = "affine_map<(g, f, r, s, c, n, y, x) -> ";
    const std::string extended = text.type == "f32" ? "%p = arith.mulf %a, %b : f32\n"
                                                    : "%g = arith.extf %a : " + text.type + " to f32\n" +
                                                          "%h = arith.extf %b : " + text.type + " to f32\n" +
                                                          "%p = arith.mulf %g, %h : f32\n";
    product_ = productOf(firstGeneric(
        "func.func @f(%x: " + image + ", %w: " + given + ", %o: " + result + ") -> " + result +
        " {\n%v = linalg.generic {indexing_maps = [" + loops + "(n, " + row + ", x * " + number(text.step) +
        " + s, g, c)>, " + loops + "(n, y, x, g, f)>, " + loops + "(" + (text.hasParts ? "n, " : "") +
        "g, f, r, s, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"parallel\", \"" +
        (text.hasParts ? "parallel" : "reduction") + "\", \"reduction\", \"reduction\"]} ins(%x, %w : " + image + ", " +
        given + ") outs(%o : " + result + ") {\n^bb0(%a: " + text.type + ", %b: " + text.type + ", %s: f32):\n" +
        extended + "%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " + result + "\nreturn %v : " + result +
        "\n}"));
    return product_ ? GroupedFilters::of(*product_) : std::nullopt;
  }

  std::optional<Contraction> product_;
};

TEST_F(GroupedFiltersOf, SaysWhatIsSummedAndWhereWindowsAre) {
  const auto found = filters({.step = 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->group, 0u);
  EXPECT_EQ(found->filter, 1u);
  EXPECT_EQ(found->channel, 4u);
  EXPECT_EQ(found->groupDimension, 3u);
  EXPECT_EQ(found->windows, (llvm::SmallVector<unsigned, 2>{2, 3}));
  EXPECT_EQ(found->summed, (llvm::SmallVector<unsigned, 3>{5, 6, 7}));
  EXPECT_TRUE(found->parts.empty());
  ASSERT_EQ(found->places.size(), 5u);
  EXPECT_EQ(found->places[0].loop, 5u);
  EXPECT_FALSE(found->places[0].window);
  EXPECT_EQ(found->places[1].loop, 6u);
  EXPECT_EQ(found->places[1].window, 2u);
  EXPECT_EQ(found->places[1].step, 2);
  EXPECT_EQ(found->places[1].apart, 1);
}

TEST_F(GroupedFiltersOf, ImagesMayBeParts) {
  const auto found = filters({.hasParts = true});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->parts, (llvm::SmallVector<unsigned, 2>{5}));
  EXPECT_EQ(found->summed, (llvm::SmallVector<unsigned, 3>{6, 7}));
  ASSERT_EQ(found->places[0].parts.size(), 1u);
  EXPECT_EQ(found->places[0].parts[0].first, 5u);
}

TEST_F(GroupedFiltersOf, OtherTypesAndSizesAreNone) {
  EXPECT_TRUE(filters({.type = "f16"}));
  EXPECT_FALSE(filters({.type = "f32"}));
  EXPECT_FALSE(filters({.images = "?"}));
  EXPECT_FALSE(filters({.groups = 1}));
  EXPECT_FALSE(filters({.channels = 2}));
  EXPECT_FALSE(filters({.channels = 12}));
  EXPECT_TRUE(filters({.channels = 32, .filters = 64}));
  EXPECT_FALSE(filters({.channels = 64}));
  EXPECT_FALSE(filters({.row = "9 - y - r"})) << "backwards";
}

TEST(GroupsOfLine, FillALineAndWhatTensorCoresTake) {
  for (int64_t channels : {4, 8, 16, 32})
    for (int64_t filters : {4, 8, 16, 32, 64}) {
      const int64_t groups = groupsOfLine(channels, filters);
      EXPECT_EQ(groups * filters % 16, 0) << channels << ' ' << filters;
      EXPECT_EQ(groups * channels % 8, 0) << channels << ' ' << filters;
      EXPECT_LE(groups * std::max(channels, filters), 128) << channels << ' ' << filters;
    }
  EXPECT_EQ(groupsOfLine(4, 4), 8);
  EXPECT_EQ(groupsOfLine(32, 32), 1);
}

} // namespace
} // namespace tenon::compiler::dispatch
