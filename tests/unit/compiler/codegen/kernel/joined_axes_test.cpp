// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/joined_axes.h"

#include "compiler/dispatch/analysis/groups/form_group.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class JoinedAxes : public KernelTest {
protected:
  /// y(i, j) = x(i, j) + z, a tensor of `type` read by (i, j) -> `read`; whether i and j are one axis.
  bool areOneWith(const std::string &read, const std::string &type, bool mayEnd = false) {
    const std::string x = "tensor<4x9xf32>", own = "affine_map<(i, j) -> (i, j)>";
    auto function =
        parseFunction("func.func @k(%x: " + x + ", %z: " + type + ") -> " + x + " {\n%e = tensor.empty() : " + x +
                      "\n%r = linalg.generic {indexing_maps = [" + own + ", affine_map<(i, j) -> (" + read + ")>, " +
                      own + "], iterator_types = [\"parallel\", \"parallel\"]} ins(%x, %z : " + x + ", " + type +
                      ") outs(%e : " + x + ") {\n^bb0(%a: f32, %b: f32, %o: f32):\n" +
                      "%s = arith.addf %a, %b : f32\nlinalg.yield %s : f32\n} -> " + x + "\nreturn %r : " + x + "\n}");
    auto kernel = KernelFunction::read(function);
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    if (mlir::failed(kernel))
      return false;
    std::string reason;
    auto group = dispatch::groupOf(kernel->ops.front().op, reason);
    EXPECT_TRUE(group) << reason;
    const auto accesses = accessesOf(*kernel);
    EXPECT_EQ(accesses.size(), 3u);
    EXPECT_EQ(accesses.front().tensor, &kernel->ops.front().outputs.front().tensor) << "results come first";
    return group && areOne(*group, accesses, 0, 1, mayEnd);
  }
};

TEST_F(JoinedAxes, AreThoseThatEveryTensorHasBesideEachOther) {
  EXPECT_TRUE(areOneWith("i, j", "tensor<4x9xf32>"));
  EXPECT_FALSE(areOneWith("j, i", "tensor<9x4xf32>"));
  EXPECT_FALSE(areOneWith("j", "tensor<9xf32>")) << "no place for the outer one";
}

TEST_F(JoinedAxes, MayEndWithTheOuterOne) {
  EXPECT_FALSE(areOneWith("i", "tensor<4xf32>"));
  EXPECT_TRUE(areOneWith("i", "tensor<4xf32>", /*mayEnd=*/true));
  EXPECT_FALSE(areOneWith("j", "tensor<9xf32>", /*mayEnd=*/true));
}

TEST_F(JoinedAxes, SizesAreEqualWhereTheyAreTheSameNumberOrArgument) {
  EXPECT_TRUE(areEqual(Extent{.size = 4}, Extent{.size = 4}));
  EXPECT_FALSE(areEqual(Extent{.size = 4}, Extent{.size = 5}));
}

} // namespace
} // namespace tenon::compiler::codegen
