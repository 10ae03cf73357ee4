// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class HopperTf32 : public KernelTextTest {
protected:
  /// left [m, k] * right [k, n] of 16 x n x 128.
  Contraction product(const std::string &attributes, const std::string &element = "f32", const std::string &n = "64") {
    const std::string widen =
        element == "f32" ? "" : "%c = arith.extf %a : bf16 to f32\n%d = arith.extf %b : bf16 to f32\n";
    const std::string names = element == "f32" ? "%a, %b" : "%c, %d";
    function_ = parseFunction(
        "module attributes {" + attributes + "} {\nfunc.func @f(%x: tensor<16x128x" + element + ">, %y: tensor<128x" +
        n + "x" + element + ">, %z: tensor<16x" + n + "xf32>) -> tensor<16x" + n + "xf32> {\n" +
        "%r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, "
        "affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%x, %y : "
        "tensor<16x128x" +
        element + ">, tensor<128x" + n + "x" + element + ">) outs(%z : tensor<16x" + n +
        "xf32>) {\n^bb0(%a: " + element + ", %b: " + element + ", %s: f32):\n" + widen + "%t = arith.mulf " + names +
        " : f32\n%u = arith.addf %s, %t : f32\nlinalg.yield %u : f32\n} -> tensor<16x" + n +
        "xf32>\n"
        "return %r : tensor<16x" +
        n + "xf32>\n}\n}");
    return *contractionOf(*function_.getOps<mlir::linalg::GenericOp>().begin());
  }

  mlir::func::FuncOp function_;
};

TEST_F(HopperTf32, IsF32ThatMayBeRoundedWhereCodeIsForHopperAlone) {
  EXPECT_TRUE(hasHopperTf32(product("tenon.tf32, tenon.hopper_only").op));
  EXPECT_FALSE(hasHopperTf32(product("tenon.tf32").op));
  EXPECT_FALSE(hasHopperTf32(product("tenon.hopper_only").op));
}

TEST_F(HopperTf32, OfSixteenRowsTilesAreFaster) {
  EXPECT_TRUE(fewRowsOf(product("tenon.tf32")));
  EXPECT_FALSE(fewRowsOf(product("tenon.tf32, tenon.hopper_only")));
  EXPECT_TRUE(fewRowsOf(product("tenon.tf32, tenon.hopper_only", "bf16")));
  // No box begins at such rows.
  EXPECT_TRUE(fewRowsOf(product("tenon.tf32, tenon.hopper_only", "f32", "66")));
}

} // namespace
} // namespace tenon::compiler::dispatch
