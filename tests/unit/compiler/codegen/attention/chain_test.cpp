// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains as those who write their kernels see them.
#include "compiler/codegen/attention/hopper/chain/warpgroup_chain.h"
#include "compiler/codegen/strategies/products/attention.h"
#include "tests/unit/compiler/codegen/attention/attention_kernel_test.h"

namespace tenon::compiler::codegen {
namespace {

class ChainKernelTest : public AttentionKernelTest {
protected:
  /// The gradient by queries: @param body from %s, %dp, the elements %l and %r of the row and the loops %m and %n to %w
  void read(const std::string &body, const std::string &values = "%k", const std::string &depth = "64") {
    const std::string text = R"mlir(
MAPS
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
    MULTIPLY
  } -> tensor<8x256x320xf32>
  %1 = linalg.generic {indexing_maps = [#bmk, #bnk, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%g, %v : tensor<8x256x64xf16>, tensor<8x320x64xf16>) outs(%fs : tensor<8x256x320xf32>) attrs = {tenon.chain = 0 : i64} {
    MULTIPLY
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
    WEIGH
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
}

// Behind the last element of a depth its tiles hold zeros.
TEST_F(ChainKernelTest, HasTilesOf64ForAnyDepthOfVectors) {
  for (const auto &[depth, tiles] : {std::pair("96", 128u), std::pair("40", 64u)}) {
    read(kPlain, "%k", depth);
    const auto shape = WarpgroupChainShape::of(*shape_, *attention_);
    ASSERT_TRUE(shape.has_value()) << depth;
    EXPECT_EQ(shape->columns, tiles);
    EXPECT_EQ(shape->depths.front(), tiles);
    EXPECT_LE(warpgroupChainBytes(*shape), 227u << 10);
  }
  read(kPlain, "%k", "36");
  EXPECT_FALSE(WarpgroupChainShape::of(*shape_, *attention_).has_value()); // mma.sync takes it
}

/// Gradients by keys and by values that heads share: sums over the heads, g, and the queries of each, m.
class SharedTwinsKernelTest : public AttentionKernelTest {
protected:
  void read(const std::string &length, const std::string &hidden = "m", bool hasThird = false) {
    // By queries, whose weights are those by keys.
    const std::string third = R"mlir(
  %eq = tensor.empty() : tensor<32x4xLENGTHx64xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<32x4xLENGTHx64xf32>) -> tensor<32x4xLENGTHx64xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(b, g, m, d, n) -> (b, g, m, n)>, affine_map<(b, g, m, d, n) -> (b, n, d)>, affine_map<(b, g, m, d, n) -> (b, g, m, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%2#1, %k : tensor<32x4xLENGTHx1024xf32>, tensor<32x1024x64xf16>) outs(%fq : tensor<32x4xLENGTHx64xf32>)
      attrs = {tenon.chain = 0 : i64, tenon.across} {
    WEIGH
  } -> tensor<32x4xLENGTHx64xf32>)mlir";
    readKernel(R"mlir(
#bmk = affine_map<(b, g, m, n, d) -> (b, g, m, d)>
#bnk = affine_map<(b, g, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, g, m, n, d) -> (b, g, m, n)>
#all = affine_map<(b, g, m, n) -> (b, g, m, n)>
#row = affine_map<(b, g, m, n) -> (b, g, m)>
#made = {indexing_maps = [affine_map<(b, n, d, g, m) -> (b, g, m, n)>, affine_map<(b, n, d, g, m) -> (b, g, m, d)>, affine_map<(b, n, d, g, m) -> (b, n, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
#scores = {indexing_maps = [#bmk, #bnk, #bmn], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
func.func @k(%q: tensor<32x4xLENGTHx64xf16>, %k: tensor<32x1024x64xf16>, %v: tensor<32x1024x64xf16>, %g: tensor<32x4xLENGTHx64xf16>,
             %lse: tensor<32x4xLENGTHxf32>) -> (tensor<32x1024x64xf32>, tensor<32x1024x64xf32>THIRD_TYPE) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x4xLENGTHx1024xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x4xLENGTHx1024xf32>) -> tensor<32x4xLENGTHx1024xf32>
  %eo = tensor.empty() : tensor<32x1024x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x1024x64xf32>) -> tensor<32x1024x64xf32>
  %0 = linalg.generic #scores ins(%q, %k : tensor<32x4xLENGTHx64xf16>, tensor<32x1024x64xf16>) outs(%fs : tensor<32x4xLENGTHx1024xf32>)
      attrs = {tenon.chain = 0 : i64} {
    MULTIPLY
  } -> tensor<32x4xLENGTHx1024xf32>
  %1 = linalg.generic #scores ins(%g, %v : tensor<32x4xLENGTHx64xf16>, tensor<32x1024x64xf16>) outs(%fs : tensor<32x4xLENGTHx1024xf32>)
      attrs = {tenon.chain = 0 : i64} {
    MULTIPLY
  } -> tensor<32x4xLENGTHx1024xf32>
  %2:2 = linalg.generic {indexing_maps = [#all, #all, #row, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %1, %lse : tensor<32x4xLENGTHx1024xf32>, tensor<32x4xLENGTHx1024xf32>, tensor<32x4xLENGTHxf32>)
      outs(%es, %es : tensor<32x4xLENGTHx1024xf32>, tensor<32x4xLENGTHx1024xf32>) attrs = {tenon.chain = 0 : i64} {
    ^bb0(%s: f32, %dp: f32, %l: f32, %o: f32, %r: f32):
      %none = arith.constant 0.0 : f32
      %g_ = linalg.index 1 : index
      %m_ = linalg.index 2 : index
      %n_ = linalg.index 3 : index
      %seen = arith.cmpi sge, %HIDDEN_, %n_ : index
      %less = arith.subf %s, %l : f32
      %e = math.exp2 %less : f32
      %p = arith.select %seen, %e, %none : f32
      %w = arith.mulf %p, %dp : f32
      linalg.yield %p, %w : f32, f32
  } -> (tensor<32x4xLENGTHx1024xf32>, tensor<32x4xLENGTHx1024xf32>)
  %3 = linalg.generic #made ins(%2#0, %g : tensor<32x4xLENGTHx1024xf32>, tensor<32x4xLENGTHx64xf16>) outs(%fo : tensor<32x1024x64xf32>)
      attrs = {tenon.chain = 0 : i64} {
    WEIGH
  } -> tensor<32x1024x64xf32>
  %4 = linalg.generic #made ins(%2#1, %q : tensor<32x4xLENGTHx1024xf32>, tensor<32x4xLENGTHx64xf16>) outs(%fo : tensor<32x1024x64xf32>)
      attrs = {tenon.chain = 0 : i64} {
    WEIGH
  } -> tensor<32x1024x64xf32>
  THIRD
  return %3, %4 THIRD_VALUE : tensor<32x1024x64xf32>, tensor<32x1024x64xf32>THIRD_TYPE
}
)mlir",
               {{"THIRD_TYPE", hasThird ? ", tensor<32x4xLENGTHx64xf32>" : ""},
                {"THIRD_VALUE", hasThird ? ", %5" : ""},
                {"THIRD", hasThird ? third : ""},
                {"LENGTH", length},
                {"HIDDEN", hidden}});
  }
};

TEST_F(SharedTwinsKernelTest, HaveKeysOfSeveralHeads) {
  read("512");
  ASSERT_TRUE(attention_->twin && attention_->heads());
  EXPECT_EQ(shape_->axes[*attention_->heads()].size, 4);
  EXPECT_EQ(shape_->axes[attention_->keys()].size, 512);
  EXPECT_EQ(attention_->scores.columns, attention_->output.reduced);
  ASSERT_TRUE(hiding_ && hiding_->bounds.size() == 1u);
  const auto shape = WarpgroupChainShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->copies(), 2u);
  EXPECT_EQ(shape->vectors.size(), 1u);
}

TEST_F(SharedTwinsKernelTest, HaveBlocksOfOneHead) {
  read("500");
  const auto shape = WarpgroupChainShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  for (const TileMap *map : shape->maps())
    EXPECT_EQ(map->box[1], 1) << "heads"; // behind the last key of one is no key of the next
  EXPECT_EQ(shape->rightMaps[0].box[2], shape->keys);
}

TEST_F(SharedTwinsKernelTest, KnowNothingOfMasksThatDifferFromHeadToHead) {
  read("512", "g");
  EXPECT_TRUE(!hiding_ || hiding_->bounds.empty());
}

TEST_F(SharedTwinsKernelTest, AddUpAThirdResultOfEachHead) {
  read("512", "m", /*hasThird=*/true);
  ASSERT_TRUE(attention_->across.has_value());
  EXPECT_EQ(attention_->across->reduced, attention_->output.rows);
  EXPECT_FALSE(attention_->parts().front().across.has_value());
  const auto shape = WarpgroupChainShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape && shape->acrossMap);
  EXPECT_EQ(shape->maps().size(), 3u);
  EXPECT_EQ(shape->acrossMap->box, (llvm::SmallVector<int64_t>{1, 1, 64, 32}));
  EXPECT_LE(warpgroupChainBytes(*shape), 227u << 10);
  // A kernel in front makes it 0.
  const std::vector<Plan> plans = AttentionStrategy().plans(*kernel_, *shape_);
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans.front().choice("clears"), 1);
  EXPECT_TRUE(plans.front().tensorMaps.empty());
}

TEST_F(SharedTwinsKernelTest, RefuseAThirdResultThatNoKernelHas) {
  read("500", "m", /*hasThird=*/true);
  EXPECT_TRUE(AttentionStrategy().plans(*kernel_, *shape_).empty());
  EXPECT_NE(messages_.find("use --sum-order=fixed"), std::string::npos) << messages_;
}

/// Gradients by keys, n, and by values, whose weights are stored for that by queries, m.
class KeptWeightsKernelTest : public AttentionKernelTest {
protected:
  void read(const std::string &depth, const std::string &queries = "512") {
    readKernel(R"mlir(
#bnd = affine_map<(b, n, m, d) -> (b, n, d)>
#bmd = affine_map<(b, n, m, d) -> (b, m, d)>
#bnm = affine_map<(b, n, m, d) -> (b, n, m)>
#all = affine_map<(b, n, m) -> (b, n, m)>
#made = {indexing_maps = [affine_map<(b, n, d, m) -> (b, n, m)>, affine_map<(b, n, d, m) -> (b, m, d)>, affine_map<(b, n, d, m) -> (b, n, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#scores = {indexing_maps = [#bnd, #bmd, #bnm], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
func.func @k(%q: tensor<32xMxDxf16>, %k: tensor<32x1024xDxf16>, %v: tensor<32x1024xDxf16>, %g: tensor<32xMxDxf16>)
    -> (tensor<32x1024xMxf16>, tensor<32x1024xDxf32>, tensor<32x1024xDxf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x1024xMxf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x1024xMxf32>) -> tensor<32x1024xMxf32>
  %en = tensor.empty() : tensor<32x1024xMxf16>
  %eo = tensor.empty() : tensor<32x1024xDxf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x1024xDxf32>) -> tensor<32x1024xDxf32>
  %0 = linalg.generic #scores ins(%k, %q : tensor<32x1024xDxf16>, tensor<32xMxDxf16>) outs(%fs : tensor<32x1024xMxf32>)
      attrs = {tenon.chain = 0 : i64} {
    MULTIPLY
  } -> tensor<32x1024xMxf32>
  %1 = linalg.generic #scores ins(%v, %g : tensor<32x1024xDxf16>, tensor<32xMxDxf16>) outs(%fs : tensor<32x1024xMxf32>)
      attrs = {tenon.chain = 0 : i64} {
    MULTIPLY
  } -> tensor<32x1024xMxf32>
  %2:2 = linalg.generic {indexing_maps = [#all, #all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %1 : tensor<32x1024xMxf32>, tensor<32x1024xMxf32>) outs(%es, %es : tensor<32x1024xMxf32>, tensor<32x1024xMxf32>)
      attrs = {tenon.chain = 0 : i64} {
    ^bb0(%s: f32, %dp: f32, %o: f32, %r: f32):
      %p = math.exp2 %s : f32
      %w = arith.mulf %p, %dp : f32
      linalg.yield %p, %w : f32, f32
  } -> (tensor<32x1024xMxf32>, tensor<32x1024xMxf32>)
  %3 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2#1 : tensor<32x1024xMxf32>)
      outs(%en : tensor<32x1024xMxf16>) attrs = {tenon.chain = 0 : i64, tenon.across} {
    ^bb0(%w: f32, %o: f16):
      %n = arith.truncf %w : f32 to f16
      linalg.yield %n : f16
  } -> tensor<32x1024xMxf16>
  %4 = linalg.generic #made ins(%2#0, %g : tensor<32x1024xMxf32>, tensor<32xMxDxf16>) outs(%fo : tensor<32x1024xDxf32>)
      attrs = {tenon.chain = 0 : i64} {
    WEIGH
  } -> tensor<32x1024xDxf32>
  %5 = linalg.generic #made ins(%2#1, %q : tensor<32x1024xMxf32>, tensor<32xMxDxf16>) outs(%fo : tensor<32x1024xDxf32>)
      attrs = {tenon.chain = 0 : i64} {
    WEIGH
  } -> tensor<32x1024xDxf32>
  return %3, %4, %5 : tensor<32x1024xMxf16>, tensor<32x1024xDxf32>, tensor<32x1024xDxf32>
}
)mlir",
               {{"xM", "x" + queries}, {"xD", "x" + depth}});
  }
};

TEST_F(KeptWeightsKernelTest, AreStoredByWarps) {
  for (const std::string depth : {"64", "128"}) {
    read(depth);
    ASSERT_TRUE(attention_->twin && attention_->kept);
    EXPECT_FALSE(attention_->across.has_value());
    EXPECT_TRUE(attention_->parts().front().kept); // where one is computed behind the other
    EXPECT_FALSE(attention_->parts().back().kept);
    const auto shape = WarpgroupChainShape::of(*shape_, *attention_);
    ASSERT_TRUE(shape && shape->keptMap);
    EXPECT_EQ(shape->keptMap->box, (llvm::SmallVector<int64_t>{1, 16, 64}));
    EXPECT_EQ(shape->maps().size(), 3u);
    EXPECT_LE(warpgroupChainBytes(*shape), 227u << 10);
    EXPECT_EQ(AttentionStrategy().plans(*kernel_, *shape_).size(), 1u);
  }
}

TEST_F(KeptWeightsKernelTest, HaveNoMapOfRowsThatAreNotAligned) {
  read("64", "508");
  ASSERT_TRUE(attention_->kept);
  EXPECT_FALSE(WarpgroupChainShape::of(*shape_, *attention_).has_value()); // mma.sync stores them
}

} // namespace
} // namespace tenon::compiler::codegen
