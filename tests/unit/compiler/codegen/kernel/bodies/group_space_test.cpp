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
  EXPECT_EQ(GroupShape::of(read(gather("3"))).axes.size(), 1u) << "rows of three have no vectors of their own";
}

} // namespace
} // namespace tenon::compiler::codegen
