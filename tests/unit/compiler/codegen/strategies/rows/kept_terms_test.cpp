// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/kept_terms.h"

#include "compiler/codegen/plan/strategy.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class KeptTerms : public KernelTest {
protected:
  /// s = the sum of TERM along rows of x, and y = RESULT of x (%a) and s (%m0): how many values of what is stored are
  /// terms.
  size_t count(const std::string &term, const std::string &result, const std::string &type = "f32") {
    const std::string x = "tensor<4x9x" + type + ">", y = "tensor<4x9xf32>", row = "tensor<4xf32>",
                      maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>";
    auto function = parseFunction(
        "func.func @k(%x: " + x + ", %e: " + y + ", %z: " + row + ") -> " + y +
        " {\n%zero = arith.constant 0.0 : f32\n%s = linalg.fill ins(%zero : f32) outs(%z : " + row + ") -> " + row +
        "\n%t = linalg.generic {indexing_maps = [" + maps +
        "], iterator_types = [\"parallel\", \"reduction\"]} ins(%x : " + x + ") outs(%s : " + row + ") {\n^bb0(%a: " +
        type + ", %o: f32):\n" + term + "\n%r = arith.addf %o, %w : f32\nlinalg.yield %r : f32\n} -> " + row +
        "\n%n = tensor.empty() : " + y + "\n%y = linalg.generic {indexing_maps = [" + maps +
        ", affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%x, %t : " + x + ", " +
        row + ") outs(%n : " + y + ") {\n^bb0(%a: " + type + ", %m0: f32, %o: f32):\n" + result +
        "\nlinalg.yield %r : f32\n} -> " + y + "\nreturn %y : " + y + "\n}");
    auto kernel = KernelFunction::read(function);
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    if (mlir::failed(kernel))
      return 0;
    const GroupShape shape = GroupShape::of(*kernel);
    return keptTermsOf(*kernel, shape, phasesOf(*kernel, shape.group).back()).size();
  }
  static constexpr const char *kExp = "%w = math.exp %a : f32";
};

TEST_F(KeptTerms, WhatIsDividedByTheirSum) {
  EXPECT_EQ(count(kExp, std::string(kExp) + "\n%r = arith.divf %w, %m0 : f32"), 1u);
}

TEST_F(KeptTerms, ElementsThatAreWantedThemselvesStay) {
  EXPECT_EQ(count(kExp, "%r = arith.subf %a, %m0 : f32"), 0u); // log-softmax
  EXPECT_EQ(count(kExp, std::string(kExp) + "\n%q = arith.divf %w, %m0 : f32\n%r = arith.addf %q, %a : f32"), 0u);
}

TEST_F(KeptTerms, WhatIsComputedSoonStays) {
  const std::string square = "%w = arith.mulf %a, %a : f32";
  EXPECT_EQ(count(square, square + "\n%r = arith.divf %w, %m0 : f32"), 0u);
}

TEST_F(KeptTerms, NarrowElementsHaveNoPlaceForThem) {
  const std::string wide = "%v = arith.extf %a : bf16 to f32\n%w = math.exp %v : f32";
  EXPECT_EQ(count(wide, wide + "\n%r = arith.divf %w, %m0 : f32", "bf16"), 0u);
}

TEST_F(KeptTerms, WhatIsReadOnManyWaysIsLookedAtOnce) {
  std::string squares = std::string(kExp) + "\n%q0 = arith.divf %w, %m0 : f32\n";
  for (int i = 0; i < 40; ++i)
    squares +=
        "%q" + std::to_string(i + 1) + " = arith.mulf %q" + std::to_string(i) + ", %q" + std::to_string(i) + " : f32\n";
  EXPECT_EQ(count(kExp, squares + "%r = arith.negf %q40 : f32"), 1u);
}

// The terms of the sum are wider than what is divided: an f16 that lies where an f32 is kept.
TEST_F(KeptTerms, OfAnotherTypeThanTheSumTheyStay) {
  const std::string exp = "%h = arith.truncf %a : f32 to f16\n%p = math.exp %h : f16";
  EXPECT_EQ(
      count(exp + "\n%w = arith.extf %p : f16 to f32",
            exp +
                "\n%u = arith.truncf %m0 : f32 to f16\n%q = arith.divf %p, %u : f16\n%r = arith.extf %q : f16 to f32"),
      0u);
}

} // namespace
} // namespace tenon::compiler::codegen
