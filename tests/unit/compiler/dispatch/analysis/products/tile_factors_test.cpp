// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/tile_factors.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class TileFactors : public KernelTextTest {
protected:
  /// A product of 128 rows of bf16 with w[n, k] = q[n, k] * scale[n], q of the type.
  Contraction product(const std::string &stored, const std::string &depth, bool isForHopper) {
    const std::string q = "tensor<256x" + depth + "x" + stored + ">", w = "tensor<256x" + depth + "xbf16>",
                      x = "tensor<128x" + depth + "xbf16>";
    const std::string convert = stored == "i8"    ? "%b = arith.sitofp %a : i8 to bf16"
                                : stored == "f32" ? "%b = arith.truncf %a : f32 to bf16"
                                                  : "%b = arith.addf %a, %s : bf16";
    function_ = parseFunction(
        "module attributes {" + std::string(isForHopper ? "tenon.hopper_only" : "") + "} {\nfunc.func @f(%x: " + x +
        ", %q: " + q + ", %scale: tensor<256xbf16>, %e: " + w +
        ", %z: tensor<128x256xf32>) -> tensor<128x256xf32> {\n" +
        "%w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>, affine_map<(n, "
        "k) -> (n, k)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%q, %scale : " +
        q + ", tensor<256xbf16>) outs(%e : " + w + ") {\n^bb0(%a: " + stored + ", %s: bf16, %o: bf16):\n" + convert +
        "\n%c = arith.mulf %b, %s : bf16\nlinalg.yield %c : bf16\n} -> " + w +
        "\n%r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
        "affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%x, %w "
        ": " +
        x + ", " + w +
        ") outs(%z : tensor<128x256xf32>) {\n^bb0(%a: bf16, %b: bf16, %s: f32):\n%c = arith.extf %a : bf16 to f32\n"
        "%d = arith.extf %b : bf16 to f32\n%t = arith.mulf %c, %d : f32\n%u = arith.addf %s, %t : f32\n"
        "linalg.yield %u : f32\n} -> tensor<128x256xf32>\nreturn %r : tensor<128x256xf32>\n}\n}");
    auto ops = function_.getOps<mlir::linalg::GenericOp>();
    weights_ = *ops.begin();
    return *contractionOf(*std::next(ops.begin()));
  }

  mlir::func::FuncOp function_;
  mlir::linalg::GenericOp weights_;
};

TEST_F(TileFactors, BytesWithAScaleAreComputedInTilesOnHopper) {
  const Contraction found = product("i8", "128", true);
  EXPECT_TRUE(mayTilesCompute(found));
  EXPECT_TRUE(isWeightOfFewBits(weights_));
  EXPECT_TRUE(isOfFewBits(found, found.right));
  EXPECT_FALSE(isOfFewBits(found, found.left));
}

TEST_F(TileFactors, OtherTargetsStoreThem) {
  EXPECT_FALSE(mayTilesCompute(product("i8", "128", false)));
}

TEST_F(TileFactors, StepsAreWhole) {
  EXPECT_FALSE(mayTilesCompute(product("i8", "96", true)));
  EXPECT_FALSE(mayTilesCompute(product("i8", "?", true)));
}

TEST_F(TileFactors, WiderElementsAreNoWeightsOfFewBits) {
  for (const char *type : {"f32", "bf16"}) {
    const Contraction found = product(type, "128", true);
    EXPECT_FALSE(isWeightOfFewBits(weights_)) << type;
    EXPECT_FALSE(isOfFewBits(found, found.right)) << type;
  }
}

} // namespace
} // namespace tenon::compiler::dispatch
