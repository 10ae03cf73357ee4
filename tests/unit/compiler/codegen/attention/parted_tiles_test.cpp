// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where blocks of Hopper's attention share the keys of a tile, and how many do.
#include "compiler/codegen/strategies/products/parted_tiles.h"

#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "tests/unit/compiler/codegen/attention/attention_kernel_test.h"

namespace tenon::compiler::codegen {
namespace {

class PartedTilesTest : public AttentionKernelTest {
protected:
  /// @param keys "?": the kernel's argument says how many  @param body from %score, %m and %n to %logit
  std::optional<PartedTiles> of(const std::string &batch, const std::string &rows, const std::string &keys,
                                const std::string &depth = "128",
                                const std::string &body = "%logit = arith.mulf %score, %scale : f32",
                                bool isForHopper = true) {
    const std::string text = R"mlir(
MAPS
func.func @k(%count: i64, %q: tensor<BxMxDxf16>, %k: tensor<BxNxDxf16> DIMS, %v: tensor<BxNxDxf16> DIMS) -> tensor<BxMxDxf32> {
  %zero = arith.constant 0.0 : f32
  %length = arith.index_cast %count : i64 to index
  %es = tensor.empty(SIZE) : tensor<BxMxNxf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<BxMxNxf32>) -> tensor<BxMxNxf32>
  %eo = tensor.empty() : tensor<BxMxDxf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<BxMxDxf32>) -> tensor<BxMxDxf32>
  %0 = linalg.generic {indexing_maps = [#bmk, #bnk, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<BxMxDxf16>, tensor<BxNxDxf16>) outs(%fs : tensor<BxMxNxf32>) {
    MULTIPLY
  } -> tensor<BxMxNxf32>
  %1 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0 : tensor<BxMxNxf32>) outs(%es : tensor<BxMxNxf32>) {
    ^bb0(%score: f32, %o: f32):
      %hidden = arith.constant 0xFF800000 : f32
      %scale = arith.constant 0.125 : f32
      %c100 = arith.constant 100 : index
      %m = linalg.index 1 : index
      %n = linalg.index 2 : index
      BODY
      linalg.yield %logit : f32
  } -> tensor<BxMxNxf32>
  %2 = linalg.softmax dimension(2) ins(%1 : tensor<BxMxNxf32>) outs(%es : tensor<BxMxNxf32>) -> tensor<BxMxNxf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%2, %v : tensor<BxMxNxf32>, tensor<BxNxDxf16>) outs(%fo : tensor<BxMxDxf32>) {
    WEIGH
  } -> tensor<BxMxDxf32>
  return %3 : tensor<BxMxDxf32>
}
)mlir";
    const bool isKnown = keys != "?";
    readKernel(text, {{"BODY", body},
                      {"DIMS", isKnown ? "" : "{tenon.dims = array<i64: 0>}"},
                      {"(SIZE)", isKnown ? "()" : "(%length)"},
                      {"<BxMxN", "<" + batch + "x" + rows + "x" + keys},
                      {"<BxMxD", "<" + batch + "x" + rows + "x" + depth},
                      {"<BxNxD", "<" + batch + "x" + keys + "x" + depth}});
    if (isForHopper)
      kernel_->function->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(kernel_->function->getContext()));
    return PartedTiles::of(*shape_, *attention_);
  }
};

TEST_F(PartedTilesTest, FillsTheDeviceWhereTilesAreFewAndKeysMany) {
  for (const auto &[batch, rows] : {std::pair("8", "256"), {"16", "100"}, {"3", "500"}, {"1", "64"}}) {
    const auto found = of(batch, rows, "16384");
    ASSERT_TRUE(found.has_value()) << batch << " " << rows;
    const int64_t tiles = std::stoi(batch) * int64_t(llvm::divideCeil(std::stoi(rows), found->shape.rows()));
    EXPECT_LE(tiles * found->shape.parts, 132) << batch << " " << rows;
    EXPECT_GE(tiles * found->shape.parts, 64) << batch << " " << rows;
    EXPECT_EQ(found->above, 0);
  }
}

TEST_F(PartedTilesTest, LeavesTilesWhole) {
  EXPECT_FALSE(of("132", "128", "8192").has_value()); // of which each multiprocessor has one
  EXPECT_FALSE(of("8", "256", "256").has_value());    // keys are few
  EXPECT_FALSE(of("8", "16", "65536").has_value());   // memory takes the time
  EXPECT_FALSE(of("8", "256", "16384", "128", "%logit = arith.mulf %score, %scale : f32", false).has_value());
}

TEST_F(PartedTilesTest, SharesKeysThatTheLastRowsSee) {
  const std::string above = "%seen = arith.cmpi sle, %n, %m : index\n",
                    window = "%old = arith.addi %n, %c100 : index\n%seen = arith.cmpi sge, %old, %m : index\n",
                    chosen = "%logit = arith.select %seen, %score, %hidden : f32";
  EXPECT_TRUE(of("4", "512", "16384", "128", above + chosen).has_value());
  EXPECT_FALSE(of("4", "512", "16384", "128", window + chosen).has_value());
}

TEST_F(PartedTilesTest, OfAnUnknownNumberOfKeysSharesMany) {
  const auto found = of("8", "256", "?");
  ASSERT_TRUE(found.has_value());
  EXPECT_GE(found->above, 256);
  EXPECT_LE(found->above, 8192);
}

} // namespace
} // namespace tenon::compiler::codegen
