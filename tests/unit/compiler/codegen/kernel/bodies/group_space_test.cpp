// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/group_space.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

using Along = GroupShape::Along;

class GroupSpaceTest : public KernelTest {
protected:
  /// A copy of a tensor<64x128xf32> or a part of it, read by `map`.
  static std::string copy(const std::string &source, const std::string &map, const std::string &result = "64x128") {
    return "func.func @k(%a: tensor<" + source + "xf32>) -> tensor<" + result +
           "xf32> {\n%e = tensor.empty() : tensor<" + result +
           "xf32>\n%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> " + map +
           ">, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%a : tensor<" +
           source + "xf32>) outs(%e : tensor<" + result +
           "xf32>) {\n^bb0(%x: f32, %o: f32):\nlinalg.yield %x : f32\n} -> tensor<" + result +
           "xf32>\nreturn %r : tensor<" + result + "xf32>\n}\n";
  }
  KernelFunction read(const std::string &text) {
    auto kernel = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    return *kernel;
  }
  Along alongLast(const KernelFunction &kernel) {
    const GroupShape shape = GroupShape::of(kernel);
    return shape.along(kernel.only().inputs[0].tensor, kernel.only().op, shape.axes.size() - 1);
  }
};

TEST_F(GroupSpaceTest, AxesThatLieSideBySideAreOne) {
  const KernelFunction kernel = read(copy("64x128", "(i, j)"));
  const GroupShape shape = GroupShape::of(kernel);
  ASSERT_EQ(shape.axes.size(), 1u);
  EXPECT_EQ(shape.axes[0].size, 64 * 128);
  EXPECT_EQ(alongLast(kernel), Along::Adjacent);
}

TEST_F(GroupSpaceTest, ATransposeLiesApart) {
  const KernelFunction kernel = read(copy("128x64", "(j, i)"));
  EXPECT_EQ(GroupShape::of(kernel).axes.size(), 2u);
  EXPECT_EQ(alongLast(kernel), Along::Apart);
}

TEST_F(GroupSpaceTest, ASliceOfColumnsIsShifted) {
  EXPECT_EQ(alongLast(read(copy("64x200", "(i, j + 3)"))), Along::Shifted);
  EXPECT_EQ(alongLast(read(copy("70x128", "(i + 5, j)"))), Along::Adjacent) << "rows begin where rows do";
  EXPECT_EQ(alongLast(read(copy("64x300", "(i, j * 2 + 1)"))), Along::Apart);
  EXPECT_EQ(alongLast(read(copy("200x64", "(j + 3, i)"))), Along::Apart);
  EXPECT_EQ(alongLast(read(copy("64x200", "(i, i + j)"))), Along::Shifted) << "each row from a place of its own";
  EXPECT_EQ(alongLast(read(copy("200x200", "(j + 1, j + 3)"))), Along::Apart);
  EXPECT_EQ(alongLast(read(copy("64", "(i)"))), Along::Same);
}

TEST_F(GroupSpaceTest, WhatABodyReadsByIndexKeepsItsAxes) {
  auto gather = [](const std::string &columns) {
    return "func.func @k(%a: tensor<64x1000xf32>) -> tensor<64x" + columns +
           "xf32> {\n%e = tensor.empty() : tensor<64x" + columns +
           "xf32>\n%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], "
           "iterator_types = [\"parallel\", \"parallel\"]} outs(%e : tensor<64x" +
           columns +
           "xf32>) {\n^bb0(%o: f32):\n%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n"
           "%x = tensor.extract %a[%i, %j] : tensor<64x1000xf32>\nlinalg.yield %x : f32\n} -> tensor<64x" +
           columns + "xf32>\nreturn %r : tensor<64x" + columns + "xf32>\n}\n";
  };
  EXPECT_EQ(GroupShape::of(read(gather("500"))).axes.size(), 2u);
  EXPECT_EQ(GroupShape::of(read(gather("1000"))).axes.size(), 1u) << "neighbours in the loops are neighbours in memory";
  EXPECT_EQ(GroupShape::of(read(gather("3"))).axes.size(), 1u) << "rows of three have no vectors of their own";
}

/// Rows of `channels` x `places` less their sums, with a weight for each channel.
std::string weighted(const std::string &channels, const std::string &places) {
  const std::string x = "tensor<2x" + channels + "x" + places + "xf32>", w = "tensor<" + channels + "xf32>";
  const bool isKnown = places != "?";
  const std::string dims = isKnown ? "" : " {tenon.dims = array<i64: 0>}";
  return "func.func @k(%n: i64, %x: " + x + dims + ", %w: " + w + ") -> (" + x + dims +
         ") {\n%z = arith.constant 0.0 : f32\n%i = arith.index_cast %n : i64 to index\n%e = tensor.empty(" +
         (isKnown ? "" : "%i") + ") : " + x +
         "\n%f = tensor.empty() : tensor<2xf32>\n%s = linalg.fill ins(%z : f32) outs(%f : tensor<2xf32>) -> "
         "tensor<2xf32>\n%t = linalg.generic {indexing_maps = [affine_map<(g, c, p) -> (g, c, p)>, "
         "affine_map<(g, c, p) -> (g)>], iterator_types = [\"parallel\", \"reduction\", \"reduction\"]} ins(%x : " +
         x +
         ") outs(%s : tensor<2xf32>) {\n^bb0(%a: f32, %o: f32):\n%b = arith.addf %a, %o : f32\nlinalg.yield %b : "
         "f32\n} -> tensor<2xf32>\n%r = linalg.generic {indexing_maps = [affine_map<(g, c, p) -> (g, c, p)>, "
         "affine_map<(g, c, p) -> (g)>, affine_map<(g, c, p) -> (c)>, affine_map<(g, c, p) -> (g, c, p)>], "
         "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%x, %t, %w : " +
         x + ", tensor<2xf32>, " + w + ") outs(%e : " + x +
         ") {\n^bb0(%a: f32, %b: f32, %c: f32, %o: f32):\n%d = arith.subf %a, %b : f32\n%m = arith.mulf %d, %c : "
         "f32\nlinalg.yield %m : f32\n} -> " +
         x + "\nreturn %r : " + x + "\n}\n";
}

TEST_F(GroupSpaceTest, RowsOfChannelsAndPlacesAreOneAxisWhereVectorsLieInTwoChannels) {
  for (const char *places : {"17", "2401", "?"}) {
    const KernelFunction kernel = read(weighted("10", places));
    const GroupShape shape = GroupShape::of(kernel);
    ASSERT_EQ(shape.reducedAxes().size(), 1u) << places;
    EXPECT_EQ(shape.reducedAxes()[0].prefixes, llvm::SmallVector<unsigned>{1});
    const KernelInput &weight = kernel.ops[1].inputs[2];
    EXPECT_EQ(shape.prefixOf(weight.tensor, kernel.ops[1].op, 1), 1u);
    EXPECT_EQ(shape.along(weight.tensor, kernel.ops[1].op, 1), Along::Apart);
    EXPECT_FALSE(shape.prefixOf(kernel.ops[1].inputs[0].tensor, kernel.ops[1].op, 1));
    EXPECT_FALSE(shape.prefixOf(weight.tensor, kernel.ops[1].op, 0));
  }
  // Whole vectors in each channel, or places too few for one.
  for (const char *places : {"2400", "7", "9"})
    EXPECT_EQ(GroupShape::of(read(weighted("10", places))).reducedAxes().size(), 2u) << places;
}

} // namespace
} // namespace tenon::compiler::codegen
