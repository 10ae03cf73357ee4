// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/summed_order.h"

#include "compiler/dispatch/forming/form_groups.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class SummedOrder : public KernelTextTest {
protected:
  /// Groups of a sum of products of windows, rounded to bf16 and stored by `map` of [f, r, s, c].
  GroupedBlock groups(const std::string &places, const std::string &windows, const std::string &shape,
                      const std::string &map) {
    const std::string image = "tensor<2x20x20x64xbf16>", given = "tensor<2x" + places + "x" + places + "x64xbf16>";
    const std::string sums = "tensor<64x" + windows + "x" + windows + "x64xf32>", stored = "tensor<" + shape + "xbf16>";
    auto function = parseFunction(
        "func.func @f(%i: " + image + ", %g: " + given + ", %s: " + sums + ", %o: " + stored + ") -> " + stored +
        " {\n%p = linalg.generic {indexing_maps = [affine_map<(f, r, s, c, n, y, x) -> (n, y + r, x + s, c)>, "
        "affine_map<(f, r, s, c, n, y, x) -> (n, y, x, f)>, affine_map<(f, r, s, c, n, y, x) -> (f, r, s, c)>], "
        "iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\", "
        "\"reduction\"]} ins(%i, %g : " +
        image + ", " + given + ") outs(%s : " + sums +
        ") {\n^bb0(%a: bf16, %b: bf16, %t: f32):\n%x = arith.extf %a : bf16 to f32\n%y = arith.extf %b : bf16 to f32\n"
        "%m = arith.mulf %x, %y : f32\n%u = arith.addf %t, %m : f32\nlinalg.yield %u : f32\n} -> " +
        sums +
        "\n%q = linalg.generic {indexing_maps = [affine_map<(f, r, s, c) -> (f, r, s, c)>, affine_map<(f, r, s, "
        "c) -> " +
        map + ">], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\"]} ins(%p : " + sums +
        ") outs(%o : " + stored +
        ") {\n^bb0(%a: f32, %b: bf16):\n%t = arith.truncf %a : f32 to bf16\nlinalg.yield %t : bf16\n} -> " + stored +
        "\nreturn %q : " + stored + "\n}");
    return formGroups(function.front());
  }
};

TEST_F(SummedOrder, AGradientOfFiltersIsTurnedByAnotherKernel) {
  const GroupedBlock turned = groups("18", "3", "64x64x3x3", "(f, c, r, s)");
  ASSERT_EQ(turned.groups.size(), 2u);
  ASSERT_EQ(turned.boundaries.size(), 1u);
  EXPECT_NE(turned.boundaries[0].reason.find("turned behind"), std::string::npos);
  std::string reason;
  EXPECT_TRUE(storesAsSummed(turned.groups[0], reason)) << reason;
}

TEST_F(SummedOrder, AsItIsSummedItIsOneKernel) {
  EXPECT_EQ(groups("18", "3", "64x3x3x64", "(f, r, s, c)").groups.size(), 1u);
  EXPECT_EQ(groups("18", "3", "3x3x64x64", "(r, s, f, c)").groups.size(), 1u);
}

// Sums over windows are no gradients by filters: their tiles are stored in any order.
TEST_F(SummedOrder, AConvolutionIsStoredInAnyOrder) {
  EXPECT_EQ(groups("3", "18", "64x64x18x18", "(f, c, r, s)").groups.size(), 1u);
}

} // namespace
} // namespace tenon::compiler::dispatch
