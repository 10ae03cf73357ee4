// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains as those who write their kernels see them.
#include "compiler/codegen/attention/hopper/warpgroup_chain.h"
#include "tests/unit/compiler/codegen/attention/attention_kernel_test.h"

namespace tenon::compiler::codegen {
namespace {

class ChainKernelTest : public AttentionKernelTest {
protected:
  /// The gradient by queries: @param body from %s, %dp, the elements %l and %r of the row and the loops %m and %n to %w
  void read(const std::string &body, const std::string &values = "%k", const std::string &depth = "64") {
    const std::string text = R"mlir(
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @k(%q: tensor<8x256xDEPTHxf16>, %k: tensor<8x320xDEPTHxf16>, %g: tensor<8x256x64xf16>, %v: tensor<8x320x64xf16>,
             %lse: tensor<8x256xf32>, %rows: tensor<8x256xf32>, %other: tensor<8x320x64xf16>) -> tensor<8x256xCOLUMNSxf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<8x256x320xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x256x320xf32>) -> tensor<8x256x320xf32>
  %eq = tensor.empty() : tensor<8x256xCOLUMNSxf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<8x256xCOLUMNSxf32>) -> tensor<8x256xCOLUMNSxf32>
  %0 = linalg.generic {indexing_maps = [#bmk, #bnk, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x256xDEPTHxf16>, tensor<8x320xDEPTHxf16>) outs(%fs : tensor<8x256x320xf32>) attrs = {tenon.chain = 0 : i64} {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x256x320xf32>
  %1 = linalg.generic {indexing_maps = [#bmk, #bnk, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%g, %v : tensor<8x256x64xf16>, tensor<8x320x64xf16>) outs(%fs : tensor<8x256x320xf32>) attrs = {tenon.chain = 0 : i64} {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x256x320xf32>
  %2 = linalg.generic {indexing_maps = [#all, #all, #row, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %1, %lse, %rows : tensor<8x256x320xf32>, tensor<8x256x320xf32>, tensor<8x256xf32>, tensor<8x256xf32>)
      outs(%es : tensor<8x256x320xf32>) attrs = {tenon.chain = 0 : i64} {
    ^bb0(%s: f32, %dp: f32, %l: f32, %r: f32, %o: f32):
      %hidden = arith.constant 0xFF800000 : f32
      %large = arith.constant -1.0e+30 : f32
      %none = arith.constant 0.0 : f32
      %m = linalg.index 1 : index
      %n = linalg.index 2 : index
      %seen = arith.cmpi sge, %m, %n : index
      BODY
      linalg.yield %w : f32
  } -> tensor<8x256x320xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%2, VALUES : tensor<8x256x320xf32>, tensor<8x320xCOLUMNSxf16>) outs(%fq : tensor<8x256xCOLUMNSxf32>) attrs = {tenon.chain = 0 : i64} {
    ^bb0(%a: f32, %b: f16, %c: f32):
      %a16 = arith.truncf %a : f32 to f16
      %x = arith.extf %a16 : f16 to f32
      %y = arith.extf %b : f16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x256xCOLUMNSxf32>
  return %3 : tensor<8x256xCOLUMNSxf32>
}
)mlir";
    readKernel(text,
               {{"BODY", body}, {"VALUES", values}, {"COLUMNS", values == "%k" ? depth : "64"}, {"DEPTH", depth}});
  }
};

const char kPlain[] = "%w = arith.mulf %s, %dp : f32";

TEST_F(ChainKernelTest, HasTwoProductsOfTheSameRowsAndKeys) {
  read(kPlain);
  EXPECT_TRUE(attention_->isChain);
  ASSERT_TRUE(attention_->second.has_value());
  EXPECT_EQ(attention_->inner().size(), 2u);
  EXPECT_EQ(attention_->second->rows, attention_->output.rows);
  EXPECT_EQ(attention_->second->columns, attention_->output.reduced);
  EXPECT_TRUE(attention_->tensorCoreElement().isF16());
  EXPECT_FALSE(hiding_.has_value());
}

TEST_F(ChainKernelTest, SeesAFactorThatIsZero) {
  read("%p = arith.select %seen, %s, %none : f32\n%x = arith.subf %dp, %r : f32\n%w = arith.mulf %p, %x : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->weighsNothing && hiding_->isWhole);
  ASSERT_EQ(hiding_->bounds.size(), 1u);
  EXPECT_TRUE(hiding_->bounds[0].isUpper);
}

TEST_F(ChainKernelTest, SeesAnExponentThatIsMinusInfinity) {
  read("%h = arith.select %seen, %s, %hidden : f32\n%x = arith.subf %h, %l : f32\n%c = arith.constant 1.5 : f32\n"
       "%y = arith.mulf %x, %c : f32\n%p = math.exp2 %y : f32\n%w = arith.mulf %dp, %p : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->weighsNothing);
}

TEST_F(ChainKernelTest, TakesNothingElseForHidden) {
  // A large negative number less a sum of its size is anything.
  read("%h = arith.select %seen, %s, %large : f32\n%x = arith.subf %h, %l : f32\n%p = math.exp %x : f32\n"
       "%w = arith.mulf %dp, %p : f32");
  EXPECT_FALSE(hiding_.has_value());
  // -inf is no weight of 0, and a sum of which a part is 0 is not 0.
  read("%w = arith.select %seen, %s, %hidden : f32");
  EXPECT_FALSE(hiding_.has_value());
  read("%p = arith.select %seen, %s, %none : f32\n%w = arith.addf %p, %dp : f32");
  EXPECT_FALSE(hiding_.has_value());
}

TEST_F(ChainKernelTest, BringsATensorOnceThatIsKeysAndValues) {
  read(kPlain);
  auto shape = WarpgroupChainShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->shared, 0u);
  EXPECT_EQ(shape->copies(), 2u);
  EXPECT_EQ(shape->maps().size(), 2u);
  EXPECT_EQ(shape->keys, 128u);
  EXPECT_LE(warpgroupChainBytes(*shape), 227u << 10);

  read(kPlain, "%other");
  shape = WarpgroupChainShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  EXPECT_FALSE(shape->shared.has_value());
  EXPECT_EQ(shape->maps().size(), 3u);
}

TEST_F(ChainKernelTest, HasFewerKeysWhereScoresTakeTheRegisters) {
  read(kPlain, "%k", "128");
  const auto shape = WarpgroupChainShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->keys, 64u);
  EXPECT_EQ(shape->columns, 128u);
  EXPECT_LE(warpgroupChainBytes(*shape), 227u << 10);
  read(kPlain, "%k", "96");
  EXPECT_FALSE(WarpgroupChainShape::of(*shape_, *attention_).has_value()); // mma.sync takes it
}

} // namespace
} // namespace tenon::compiler::codegen
