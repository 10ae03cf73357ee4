// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/one_pass.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class OnePassTest : public KernelTest {
protected:
  /// A reduction of x[i, j] by `first`, and one by `second`, which knows %m of the first.
  std::optional<llvm::SmallVector<OnePassSum>> sums(const std::string &first, const std::string &second,
                                                    const std::string &type = "f32") {
    const std::string matrix = "tensor<4x9x" + type + ">", row = "tensor<4x" + type + ">",
                      maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>";
    auto function = parseFunction(
        "func.func @k(%x: " + matrix + ", %s: " + row + ", %t: " + row + ") -> " + row +
        " {\n%m = linalg.generic {indexing_maps = [" + maps +
        "], iterator_types = [\"parallel\", \"reduction\"]} ins(%x : " + matrix + ") outs(%s : " + row +
        ") {\n^bb0(%a: " + type + ", %o: " + type + "):\n" + first + "\nlinalg.yield %r : " + type + "\n} -> " + row +
        "\n%v = linalg.generic {indexing_maps = [" + maps +
        ", affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]} ins(%x, %m : " + matrix + ", " +
        row + ") outs(%t : " + row + ") {\n^bb0(%a: " + type + ", %m0: " + type + ", %o: " + type + "):\n" + second +
        "\nlinalg.yield %r : " + type + "\n} -> " + row + "\nreturn %v : " + row + "\n}");
    auto kernel = KernelFunction::read(function);
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    if (mlir::failed(kernel))
      return std::nullopt;
    const GroupShape shape = GroupShape::of(*kernel);
    const auto phases = phasesOf(*kernel, shape.group);
    EXPECT_EQ(phases.size(), 2u);
    return onePassSums(*kernel, shape, phases[0], phases[1]);
  }
  static constexpr const char *kMaximum = "%r = arith.maximumf %a, %o : f32";
  static constexpr const char *kSum = "%r = arith.addf %a, %o : f32";
};

TEST_F(OnePassTest, ExponentialsBelowTheMaximum) {
  auto found = sums(kMaximum, "%d = arith.subf %a, %m0 : f32\n%e = math.exp %d : f32\n%r = arith.addf %o, %e : f32");
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().kind, OnePassSum::Kind::Exponentials);
  EXPECT_EQ(found->front().size(), 2u);
}

TEST_F(OnePassTest, ExponentialsOfMaskedElements) {
  auto masked = [](const std::string &dimension) {
    return "%i = linalg.index " + dimension +
           " : index\n%three = arith.constant 3 : index\n%low = arith.constant 0xFF800000 : f32\n"
           "%seen = arith.cmpi ule, %i, %three : index\n%w = arith.select %seen, %a, %low : f32\n";
  };
  const std::string top = "%r = arith.maximumf %w, %o : f32",
                    sum = "%d = arith.subf %w, %m0 : f32\n%e = math.exp %d : f32\n%r = arith.addf %o, %e : f32";
  EXPECT_TRUE(sums(masked("1") + top, masked("1") + sum).has_value());
  EXPECT_FALSE(sums(masked("1") + top, masked("0") + sum).has_value()); // another mask
}

TEST_F(OnePassTest, SquaresAroundTheMean) {
  auto found = sums(kSum, "%d = arith.subf %a, %m0 : f32\n%q = arith.mulf %d, %d : f32\n%r = arith.addf %o, %q : f32");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->front().kind, OnePassSum::Kind::Squares);
  EXPECT_EQ(found->front().size(), 3u);
}

TEST_F(OnePassTest, OtherSumsTakeAPass) {
  // Not of the difference alone, of a sum of another kind, or of what is no sum.
  EXPECT_FALSE(sums(kMaximum, "%d = arith.subf %m0, %a : f32\n%e = math.exp %d : f32\n%r = arith.addf %o, %e : f32"));
  EXPECT_FALSE(sums(kSum, "%d = arith.subf %a, %m0 : f32\n%e = math.exp %d : f32\n%r = arith.addf %o, %e : f32"));
  EXPECT_FALSE(sums(kSum, "%d = arith.subf %a, %m0 : f32\n%q = arith.mulf %d, %d : f32\n%r = arith.mulf %o, %q : f32"));
  EXPECT_FALSE(sums(kSum, "%d = arith.subf %a, %m0 : f32\n%q = arith.mulf %d, %a : f32\n%r = arith.addf %o, %q : f32"));
}

} // namespace
} // namespace tenon::compiler::codegen
