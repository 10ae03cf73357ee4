// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transposes/short_turns.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class ShortTurnsPlan : public KernelTest {
protected:
  std::optional<Plan> planOf(const std::string &text) {
    const mlir::FailureOr<KernelFunction> kernel = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    return ShortTurns().plan(*kernel, GroupShape::of(*kernel));
  }

  /// y[f, k, c] = x[f, c, k].
  std::optional<Plan> ofFilters(const std::string &filters, const std::string &channels, const std::string &places,
                                const std::string &type = "f16") {
    const std::string from = "tensor<" + filters + "x" + channels + "x" + places + "x" + type + ">",
                      to = "tensor<" + filters + "x" + places + "x" + channels + "x" + type + ">";
    return planOf("func.func @k(%x: " + from + ", %o: " + to + ") -> " + to +
                  " {\n%v = linalg.generic {indexing_maps = [affine_map<(f, k, c) -> (f, c, k)>, affine_map<(f, k, c) "
                  "-> (f, k, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%x : " +
                  from + ") outs(%o : " + to + ") {\n^bb0(%a: " + type + ", %b: " + type +
                  "):\nlinalg.yield %a : " + type + "\n} -> " + to + "\nreturn %v : " + to + "\n}");
  }

  /// y[p, c, k] = x[p + k, `channel`] of 500 places.
  std::optional<Plan> ofPatches(const std::string &channels, const std::string &places,
                                const std::string &channel = "%c") {
    const std::string from = "tensor<520x" + channels + "xbf16>",
                      to = "tensor<500x" + channels + "x" + places + "xbf16>";
    return planOf("func.func @k(%x: " + from + ", %o: " + to + ") -> " + to +
                  " {\n%v = linalg.generic {indexing_maps = [affine_map<(p, c, k) -> (p, c, k)>], iterator_types = "
                  "[\"parallel\", \"parallel\", \"parallel\"]} outs(%o : " +
                  to +
                  ") {\n^bb0(%b: bf16):\n%p = linalg.index 0 : index\n%c = linalg.index 1 : index\n%k = linalg.index "
                  "2 : index\n%q = arith.addi %p, %k : index\n%e = tensor.extract %x[%q, " +
                  channel + "] : " + from + "\nlinalg.yield %e : bf16\n} -> " + to + "\nreturn %v : " + to + "\n}");
  }
};

TEST_F(ShortTurnsPlan, AThreadHasAVectorOfChannelsAndAllPlaces) {
  const std::optional<Plan> plan = ofFilters("640", "320", "9");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->choice("width"), 8);
  ASSERT_EQ(plan->grid.size(), 1u);
  EXPECT_EQ(plan->grid.front().perBlock, 1024); // channels of filters
  EXPECT_EQ(knownProduct(plan->grid.front().extents), 640 * 320);
  EXPECT_EQ(ofFilters("640", "320", "9", "f32")->choice("width"), 4);
  EXPECT_TRUE(ofFilters("2", "50176", "3")) << "images of three channels";
}

TEST_F(ShortTurnsPlan, LongAndWholeAndRaggedAndFewAreLeftToOthers) {
  EXPECT_FALSE(ofFilters("640", "320", "25")) << "more than there are registers for";
  EXPECT_FALSE(ofFilters("640", "320", "16")) << "whole vectors: a tile is not empty";
  EXPECT_FALSE(ofFilters("640", "321", "9")) << "vectors that begin anywhere";
  EXPECT_FALSE(ofFilters("64", "32", "9")) << "threads of eight warps";
}

TEST_F(ShortTurnsPlan, PatchesAreWrittenByChannels) {
  const std::optional<Plan> plan = ofPatches("320", "9");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->choice("width"), 8);
  EXPECT_EQ(knownProduct(plan->grid.front().extents), 500 * 320);
  EXPECT_FALSE(ofPatches("321", "9"));
  EXPECT_FALSE(ofPatches("320", "17"));
  EXPECT_FALSE(ofPatches("320", "9", "%k")) << "not along the channels";
}

} // namespace
} // namespace tenon::compiler::codegen
