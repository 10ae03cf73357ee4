// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hiding.h"

#include "tests/unit/compiler/codegen/attention/attention_kernel_test.h"

namespace tenon::compiler::codegen {
namespace {

/// An attention of four dimensions: two of the rows, which share their keys.
class HidingTest : public AttentionKernelTest {
protected:
  /// @param body from %score, the loops %g, %m and %n and the element %length of the batch to %logit
  void read(const std::string &body, const std::string &groups = "1", const std::string &rows = "128",
            const std::string &keys = "96") {
    const std::string text = R"mlir(
func.func @k(%q: tensor<2xGx128x64xf16>, %key: tensor<2x96x64xf16>, %v: tensor<2x96x32xf16>, %lengths: tensor<2xLENGTH>) -> tensor<2xGx128x32xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2xGx128x96xf32>
  %eo = tensor.empty() : tensor<2xGx128x32xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2xGx128x96xf32>) -> tensor<2xGx128x96xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2xGx128x32xf32>) -> tensor<2xGx128x32xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, g, m, n, d) -> (b, g, m, d)>, affine_map<(b, g, m, n, d) -> (b, n, d)>, affine_map<(b, g, m, n, d) -> (b, g, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %key : tensor<2xGx128x64xf16>, tensor<2x96x64xf16>) outs(%fs : tensor<2xGx128x96xf32>) {
    MULTIPLY
  } -> tensor<2xGx128x96xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(b, g, m, n) -> (b, g, m, n)>, affine_map<(b, g, m, n) -> (b)>, affine_map<(b, g, m, n) -> (b, g, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %lengths : tensor<2xGx128x96xf32>, tensor<2xLENGTH>) outs(%es : tensor<2xGx128x96xf32>) {
    ^bb0(%score: f32, %length: LENGTH, %o: f32):
      %hidden = arith.constant 0xFF800000 : f32
      %large = arith.constant -1.0e+30 : f32
      %none = arith.constant 0.0 : f32
      %scale = arith.constant 0.125 : f32
      %c3 = arith.constant 3 : index
      %g = linalg.index 1 : index
      %m = linalg.index 2 : index
      %n = linalg.index 3 : index
      BODY
      linalg.yield %logit : f32
  } -> tensor<2xGx128x96xf32>
  %e = tensor.empty() : tensor<2xGx128x96xf32>
  %w = linalg.softmax dimension(3) ins(%l : tensor<2xGx128x96xf32>) outs(%e : tensor<2xGx128x96xf32>) -> tensor<2xGx128x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, g, m, e, n) -> (b, g, m, n)>, affine_map<(b, g, m, e, n) -> (b, n, e)>, affine_map<(b, g, m, e, n) -> (b, g, m, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<2xGx128x96xf32>, tensor<2x96x32xf16>) outs(%fo : tensor<2xGx128x32xf32>) {
    WEIGH
  } -> tensor<2xGx128x32xf32>
  return %r : tensor<2xGx128x32xf32>
}
)mlir";
    readKernel(text, {{"BODY", body},
                      {"LENGTH", "i64"},
                      {"xGx", "x" + groups + "x"},
                      {"x128x", "x" + rows + "x"},
                      {"x96x", "x" + keys + "x"}});
  }
};

TEST_F(HidingTest, ReadsTheAttention) {
  read("%logit = arith.mulf %score, %scale : f32");
  EXPECT_FALSE(hiding_.has_value());
  EXPECT_EQ(scaleOf(*attention_, hiding_), 0.125);
  EXPECT_TRUE(attention_->tensorCoreElement().isF16());
  EXPECT_EQ(attention_->output.reduced, attention_->scores.columns);
  EXPECT_EQ(attention_->output.rows, attention_->scores.rows);
}

TEST_F(HidingTest, SeesACausalMask) {
  read("%l = arith.mulf %score, %scale : f32\n"
       "%seen = arith.cmpi sge, %m, %n : index\n"
       "%logit = arith.select %seen, %l, %hidden : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->isWhole && hiding_->weighsNothing && hiding_->isOnly);
  ASSERT_EQ(hiding_->bounds.size(), 1u);
  EXPECT_TRUE(hiding_->bounds[0].isUpper && hiding_->bounds[0].orEqual && hiding_->bounds[0].followsRows);
  EXPECT_TRUE(hiding_->bounds[0].holds);
  EXPECT_EQ(scaleOf(*attention_, hiding_), 0.125);
}

TEST_F(HidingTest, SeesWhatIsHiddenWhereAComparisonHolds) {
  read("%after = arith.cmpi sgt, %n, %m : index\n"
       "%before = arith.addi %n, %c3 : index\n"
       "%old = arith.cmpi slt, %before, %m : index\n"
       "%out = arith.ori %after, %old : i1\n"
       "%mask = arith.select %out, %large, %none : f32\n"
       "%logit = arith.addf %mask, %score : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->isWhole && !hiding_->weighsNothing);
  ASSERT_EQ(hiding_->bounds.size(), 2u);
  EXPECT_TRUE(hiding_->bounds[0].isUpper && hiding_->bounds[0].orEqual && !hiding_->bounds[0].holds);
  EXPECT_TRUE(!hiding_->bounds[1].isUpper && hiding_->bounds[1].orEqual);
  EXPECT_EQ(scaleOf(*attention_, hiding_), 1.0);
}

TEST_F(HidingTest, SeesLengthsOfTheBatch) {
  read("%at = arith.index_cast %n : index to i64\n"
       "%seen = arith.cmpi slt, %at, %length : i64\n"
       "%logit = arith.select %seen, %score, %hidden : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->bounds[0].isUpper && !hiding_->bounds[0].orEqual && !hiding_->bounds[0].followsRows);
}

TEST_F(HidingTest, KnowsThatThereAreOtherConditions) {
  read("%causal = arith.cmpi sge, %m, %n : index\n"
       "%sum = arith.remui %n, %c3 : index\n"
       "%odd = arith.cmpi eq, %sum, %c3 : index\n"
       "%seen = arith.andi %causal, %odd : i1\n"
       "%logit = arith.select %seen, %score, %hidden : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_FALSE(hiding_->isWhole);
  EXPECT_EQ(hiding_->bounds.size(), 1u);
}

TEST_F(HidingTest, SeesChoicesInsideOfEachOther) {
  read("%causal = arith.cmpi sge, %m, %n : index\n"
       "%near = arith.cmpi sle, %m, %n : index\n"
       "%inner = arith.select %near, %score, %hidden : f32\n"
       "%logit = arith.select %causal, %inner, %hidden : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->isWhole && hiding_->weighsNothing);
  EXPECT_EQ(hiding_->bounds.size(), 2u);
  EXPECT_EQ(scaleOf(*attention_, hiding_), 1.0);
  // What hides by another number is a part of what is shown.
  read("%causal = arith.cmpi sge, %m, %n : index\n"
       "%near = arith.cmpi sle, %m, %n : index\n"
       "%inner = arith.select %near, %score, %large : f32\n"
       "%logit = arith.select %causal, %inner, %hidden : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_EQ(hiding_->bounds.size(), 1u);
  EXPECT_TRUE(hiding_->isWhole && hiding_->weighsNothing);
  EXPECT_FALSE(scaleOf(*attention_, hiding_).has_value());
}

TEST_F(HidingTest, SeesRowsThatSeeNothing) {
  read("%row = arith.cmpi slt, %m, %c3 : index\n"
       "%causal = arith.cmpi sge, %m, %n : index\n"
       "%seen = arith.andi %row, %causal : i1\n"
       "%logit = arith.select %seen, %score, %hidden : f32");
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->isWhole && hiding_->followRows());
  EXPECT_EQ(hiding_->rowBounds.size(), 1u);
  EXPECT_EQ(hiding_->bounds.size(), 1u);
}

TEST_F(HidingTest, SeesRangesThatWereComputedBefore) {
  const std::string range = "%at = arith.index_cast %length : i64 to index\n"
                            "%inside0 = arith.cmpi sge, %n, LIMIT : index\n"
                            "%inside1 = arith.cmpi slt, %n, %at : index\n"
                            "%inside = arith.andi %inside0, %inside1 : i1\n"
                            "%whole0 = arith.cmpi sge, %n, %c3 : index\n"
                            "%whole1 = arith.cmpi slt, %n, %at : index\n"
                            "%whole = arith.andi %whole0, %whole1 : i1\n"
                            "%odd = arith.remui %n, %c3 : index\n"
                            "%own = arith.cmpi eq, %odd, %c3 : index\n"
                            "%either = arith.ori %own, %whole : i1\n"
                            "%seen = arith.andi %inside, %either {tenon.key_range} : i1\n"
                            "%logit = arith.select %seen, %score, %hidden : f32";
  auto with = [&](const std::string &limit) {
    std::string text = range;
    return text.replace(text.find("LIMIT"), 5, limit);
  };
  read(with("%c3"));
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->isWhole && hiding_->weighsNothing);
  EXPECT_EQ(hiding_->ranges.size(), 1u);
  EXPECT_TRUE(hiding_->bounds.empty());
  // A limit that is another for each row says nothing of a tile.
  read(with("%m"));
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_FALSE(hiding_->isWhole);
  EXPECT_TRUE(hiding_->ranges.empty());
  EXPECT_EQ(hiding_->always.size(), 2u);
}

TEST_F(HidingTest, RowsOfSeveralDimensionsFollowATileThatBeginsWithThem) {
  const std::string causal = "%seen = arith.cmpi sge, %m, %n : index\n"
                             "%logit = arith.select %seen, %score, %hidden : f32";
  read(causal, "3"); // 128 rows of each, 64 of a tile
  EXPECT_TRUE(hiding_.has_value());
  EXPECT_FALSE(hidingOf(*shape_, *attention_, 96).has_value());
  // Rows do not grow with the dimension that comes first.
  read("%seen = arith.cmpi sge, %g, %n : index\n%logit = arith.select %seen, %score, %hidden : f32", "3");
  EXPECT_FALSE(hiding_.has_value());
}

TEST_F(HidingTest, TilesThatWrapSeeWhatAnyRowOfAHeadDoes) {
  read("%seen = arith.cmpi sge, %m, %n : index\n"
       "%logit = arith.select %seen, %score, %hidden : f32",
       "3", "40");
  EXPECT_FALSE(hiding_.has_value());
  EXPECT_FALSE(wrappedRows(*shape_, *attention_, 64).has_value());
  attention_->tilesWrap = true;
  EXPECT_EQ(wrappedRows(*shape_, *attention_, 64), 40);
  EXPECT_FALSE(wrappedRows(*shape_, *attention_, 20).has_value()); // tiles are of one head
  const std::optional<Hiding> hiding = hidingOf(*shape_, *attention_, 64);
  ASSERT_TRUE(hiding.has_value());
  ASSERT_EQ(hiding->bounds.size(), 1u);
  EXPECT_TRUE(hiding->bounds[0].isUpper && hiding->bounds[0].followsRows);
}

TEST_F(HidingTest, HeadsThatAreNoWholeTilesAreOfTheBatch) {
  const std::string causal = "%seen = arith.cmpi sge, %m, %n : index\n"
                             "%logit = arith.select %seen, %score, %hidden : f32";
  auto batch = [&] { return shape_->sizeOf(attention_->output.batch); };
  read(causal, "3", "300", "300");
  EXPECT_EQ(batch(), 6);
  EXPECT_EQ(attention_->output.rows.size(), 1u);
  EXPECT_EQ(attention_->scores.rows, attention_->output.rows);
  EXPECT_EQ(attention_->scores.batch, attention_->output.batch);
  ASSERT_TRUE(hiding_.has_value());
  EXPECT_TRUE(hiding_->followRows());
  // Whole tiles, few queries, and where half empty tiles would see more keys than a mask hides.
  for (const auto &[rows, keys] : {std::pair("128", "300"), {"64", "300"}, {"130", "130"}}) {
    read(causal, "3", rows, keys);
    EXPECT_EQ(batch(), 2) << rows;
  }
  // Nothing follows the queries.
  read("%logit = arith.mulf %score, %scale : f32", "3", "300", "300");
  EXPECT_EQ(batch(), 2);
  read("%seen = arith.cmpi sge, %c3, %n : index\n%logit = arith.select %seen, %score, %hidden : f32", "3", "300",
       "300");
  EXPECT_EQ(batch(), 2);
}

} // namespace
} // namespace tenon::compiler::codegen
