// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/match.h"

#include "compiler/dispatch/analysis/groups/form_group.h"
#include "compiler/dispatch/attention/build.h"
#include "compiler/dispatch/open_softmax.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"

#include <cmath>

namespace tenon::compiler::dispatch {
namespace {

// The usual form. Tests change a part of it.
const char kAttention[] = R"mlir(
func.func @f(%q: tensor<2x8x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x6xf32>, %x: tensor<2x8x16xf32>) -> (tensor<2x8x6xf32>MORE_TYPES) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant LOW : f32
  %scale = arith.constant dense<0.5> : tensor<2x8x16xf32>
  %es = tensor.empty() : tensor<2x8x16xf32>
  %er = tensor.empty() : tensor<2x8xf32>
  %eo = tensor.empty() : tensor<2x8x6xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<2x8xf32>) -> tensor<2x8xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<2x8xf32>) -> tensor<2x8xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x8x4xf32>, tensor<2x16x4xf32>) outs(%fs : tensor<2x8x16xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %p = arith.mulf %a, %c : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x8x16xf32>
  %scaled = arith.mulf %s, %scale : tensor<2x8x16xf32>
  %l = arith.addf %scaled, %x : tensor<2x8x16xf32>
  %m = linalg.reduce { arith.maximumf } ins(MAX_OF : tensor<2x8x16xf32>) outs(%fm : tensor<2x8xf32>) dimensions = [2]
  %wide_m = linalg.broadcast ins(%m : tensor<2x8xf32>) outs(%es : tensor<2x8x16xf32>) dimensions = [2]
  %apart = arith.subf %l, %wide_m : tensor<2x8x16xf32>
  %e = math.exp EXP_OF : tensor<2x8x16xf32>
  %sum = linalg.reduce { arith.addf } ins(SUM_OF : tensor<2x8x16xf32>) outs(%fz : tensor<2x8xf32>) dimensions = [2]
  %wide_sum = linalg.broadcast ins(%sum : tensor<2x8xf32>) outs(%es : tensor<2x8x16xf32>) dimensions = [2]
  %w = arith.divf %e, %wide_sum : tensor<2x8x16xf32>
  %o = linalg.batch_matmul ins(WEIGHTS, %v : tensor<2x8x16xf32>, tensor<2x16x6xf32>) outs(%fo : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %wide_o = linalg.broadcast ins(%sum : tensor<2x8xf32>) outs(%eo : tensor<2x8x6xf32>) dimensions = [2]
  %behind = arith.divf %o, %wide_o : tensor<2x8x6xf32>
  return RESULTMORE : tensor<2x8x6xf32>MORE_TYPES
}
)mlir";

struct Change {
  std::string what, with;
};

class MatchAttentionTest : public KernelTextTest {
protected:
  KeyRanges ranges_;
  std::optional<AttentionMatch> match(std::vector<Change> changes) {
    changes.insert(changes.end(), {{"LOW", "0xFF800000"},
                                   {"MAX_OF", "%l"},
                                   {"EXP_OF", "%apart"},
                                   {"SUM_OF", "%e"},
                                   {"WEIGHTS", "%w"},
                                   {"RESULT", "%o"},
                                   {"MORE_TYPES", ""},
                                   {"MORE", ""}});
    std::string text = kAttention;
    for (const Change &change : changes)
      for (size_t at = text.find(change.what); at != std::string::npos;
           at = text.find(change.what, at + change.with.size()))
        text.replace(at, change.what.size(), change.with);
    function_ = parseFunction(text);
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    std::optional<AttentionMatch> found;
    reason_.clear();
    for (auto op : function_.getOps<mlir::linalg::GenericOp>())
      if (auto match = matchAttention(op, reason_))
        found = match;
    return found;
  }

  mlir::func::FuncOp function_;
  std::string reason_;
};

TEST_F(MatchAttentionTest, SeesTheUsualForm) {
  auto found = match({});
  ASSERT_TRUE(found.has_value()) << reason_;
  EXPECT_EQ(found->keys, 3u); // of batch_matmul
  EXPECT_EQ(found->parallel, (llvm::SmallVector<unsigned>{0, 1}));
  EXPECT_EQ(found->division, nullptr);
}

TEST_F(MatchAttentionTest, SeesADivisionBehindTheLastProduct) {
  auto found = match({{"WEIGHTS", "%e"}, {"RESULT", "%behind"}});
  ASSERT_TRUE(found.has_value()) << reason_;
  EXPECT_NE(found->division, nullptr);
}

// -inf is subtracted as 0, and a sum that is 0 divides as GOOD.
const Change kGuardedMaximum = {"%apart = arith.subf %l, %wide_m :",
                                R"mlir(%inf = arith.constant dense<0xFF800000> : tensor<2x8x16xf32>
  %nothing = arith.constant dense<0.0> : tensor<2x8x16xf32>
  %is_inf = arith.cmpf oeq, %wide_m, %inf : tensor<2x8x16xf32>
  %finite = arith.select %is_inf, %nothing, %wide_m : tensor<2x8x16xi1>, tensor<2x8x16xf32>
  %apart = arith.subf %l, %finite :)mlir"};
const Change kGuardedSum = {"%w = arith.divf %e, %wide_sum :",
                            R"mlir(%good = arith.constant dense<GOOD> : tensor<2x8x16xf32>
  %bad = arith.constant dense<0.0> : tensor<2x8x16xf32>
  %is_bad = arith.cmpf oeq, %wide_sum, %bad : tensor<2x8x16xf32>
  %divisor = arith.select %is_bad, %good, %wide_sum : tensor<2x8x16xi1>, tensor<2x8x16xf32>
  %w = arith.divf %e, %divisor :)mlir"};

TEST_F(MatchAttentionTest, HiddenQueriesAreZeroWhereBothAreGuarded) {
  auto found = match({kGuardedMaximum, kGuardedSum, {"GOOD", "1.0"}});
  ASSERT_TRUE(found.has_value()) << reason_;
  EXPECT_TRUE(found->hiddenIsZero);
  buildAttention(*found, ranges_);
  eraseDeadOperations(function_);
  for (auto softmax : function_.getOps<mlir::linalg::SoftmaxOp>())
    EXPECT_TRUE(softmax->hasAttr(kHiddenIsZero));
}

TEST_F(MatchAttentionTest, HiddenQueriesAreNoNumberWhereOneIsGuarded) {
  for (const Change &change : {kGuardedMaximum, kGuardedSum}) {
    auto found = match({change, {"GOOD", "1.0"}});
    ASSERT_TRUE(found.has_value()) << reason_;
    EXPECT_FALSE(found->hiddenIsZero);
  }
  EXPECT_FALSE(match({}).value().hiddenIsZero);
}

TEST_F(MatchAttentionTest, AnotherDivisorIsNoSum) {
  EXPECT_FALSE(match({kGuardedMaximum, kGuardedSum, {"GOOD", "2.0"}}).has_value());
  EXPECT_EQ(reason_, "what its weights are divided by is not their sum over the keys");
}

TEST_F(MatchAttentionTest, SeesPowersOfTwo) {
  auto found = match({{"math.exp ", "math.exp2 "}});
  ASSERT_TRUE(found.has_value()) << reason_;
  EXPECT_DOUBLE_EQ(found->factor, M_LN2);
  // What the program multiplies by and what makes the power one of e are one constant.
  buildAttention(*found, ranges_);
  eraseDeadOperations(function_);
  auto softmaxes = llvm::to_vector(function_.getOps<mlir::linalg::SoftmaxOp>());
  ASSERT_EQ(softmaxes.size(), 1u);
  auto logits = softmaxes[0].getInput().getDefiningOp<mlir::linalg::GenericOp>();
  unsigned constants = 0;
  logits.walk([&](mlir::arith::ConstantOp constant) {
    auto number = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue());
    constants += number && std::abs(number.getValueAsDouble() - 0.5 * M_LN2) < 1e-6;
  });
  EXPECT_EQ(constants, 1u);
}

TEST_F(MatchAttentionTest, SeesADifferenceThatIsMultiplied) {
  const std::string multiplied = "%two = arith.constant dense<2.0> : tensor<2x8x16xf32>\n"
                                 "%twice = arith.mulf %apart, %two : tensor<2x8x16xf32>\n%e = math.exp %twice ";
  auto found = match({{"%e = math.exp EXP_OF ", multiplied}});
  ASSERT_TRUE(found.has_value()) << reason_;
  EXPECT_DOUBLE_EQ(found->factor, 2);
  const std::string turned = "%two = arith.constant dense<-2.0> : tensor<2x8x16xf32>\n"
                             "%twice = arith.mulf %apart, %two : tensor<2x8x16xf32>\n%e = math.exp %twice ";
  EXPECT_FALSE(match({{"%e = math.exp EXP_OF ", turned}}).has_value()); // the least would be largest
  EXPECT_NE(reason_.find("no maximum is subtracted"), std::string::npos) << reason_;
}

TEST_F(MatchAttentionTest, BuildsOneForm) {
  for (const std::vector<Change> &changes : {std::vector<Change>{}, {{"WEIGHTS", "%e"}, {"RESULT", "%behind"}}}) {
    auto found = match(changes);
    ASSERT_TRUE(found.has_value()) << reason_;
    buildAttention(*found, ranges_);
    eraseDeadOperations(function_);
    ASSERT_TRUE(mlir::succeeded(prepareFunction(function_)));
    eraseDeadOperations(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_)));
    auto softmaxes = llvm::to_vector(function_.getOps<mlir::linalg::SoftmaxOp>());
    ASSERT_EQ(softmaxes.size(), 1u);
    auto logits = beforeSoftmax(softmaxes[0]->getResult(0)).getDefiningOp<mlir::linalg::GenericOp>();
    ASSERT_TRUE(logits);
    EXPECT_EQ(logits.getNumDpsInputs(), 2u); // scores and %x
    for (auto op : function_.getOps<mlir::linalg::GenericOp>())
      EXPECT_EQ(isOfAttention(op), op.getNumReductionLoops() != 0);
    // Both products, the logits, and what is left of the division.
    auto ops = llvm::to_vector(function_.getOps<mlir::linalg::GenericOp>());
    std::string why;
    auto group = groupOf(ops, why);
    ASSERT_TRUE(group.has_value()) << why;
    EXPECT_TRUE(group->softmax);
    EXPECT_EQ(llvm::count(group->isReduced, true), 2); // the keys, and the first product's sums
    EXPECT_EQ(group->numAxes(), 5u);
  }
}

/// One tile of results would have to be stored several times.
TEST_F(MatchAttentionTest, WhatRepeatsItsResultIsAnotherGroup) {
  auto found = match({{"-> (tensor<2x8x6xf32>MORE_TYPES)", "-> tensor<3x2x8x6xf32>"},
                      {"return RESULTMORE : tensor<2x8x6xf32>MORE_TYPES",
                       "%em = tensor.empty() : tensor<3x2x8x6xf32>\n"
                       "%many = linalg.broadcast ins(%o : tensor<2x8x6xf32>) outs(%em : tensor<3x2x8x6xf32>) "
                       "dimensions = [0]\nreturn %many : tensor<3x2x8x6xf32>"}});
  ASSERT_TRUE(found.has_value()) << reason_;
  buildAttention(*found, ranges_);
  eraseDeadOperations(function_);
  ASSERT_TRUE(mlir::succeeded(prepareFunction(function_)));
  eraseDeadOperations(function_);
  auto ops = llvm::to_vector(function_.getOps<mlir::linalg::GenericOp>());
  std::string why;
  EXPECT_FALSE(groupOf(ops, why).has_value());
  EXPECT_EQ(why, "what repeats the result of an attention has a kernel of its own");
  EXPECT_TRUE(groupOf(llvm::ArrayRef(ops).drop_back(), why).has_value()) << why;
}

TEST_F(MatchAttentionTest, SaysWhyANearMissIsNone) {
  struct Case {
    std::vector<Change> changes;
    const char *reason;
  };
  const Case cases[] = {
      {{{"EXP_OF", "%l"}}, "no maximum is subtracted"},
      {{{"MAX_OF", "%x"}}, "that of other numbers"},
      {{{"LOW", "0.0"}}, "starts from another number"},
      {{{"SUM_OF", "%apart"}}, "is not their sum"},
      {{{"WEIGHTS", "%e"}}, "nothing divides by the sum"},
      {{{"MORE_TYPES", ", tensor<2x8x16xf32>"}, {"MORE", ", %w"}}, "read by another operation too"},
      {{{"MORE_TYPES", ", tensor<2x8x16xf32>"}, {"MORE", ", %s"}}, "read by another operation too"},
  };
  for (const Case &each : cases) {
    EXPECT_FALSE(match(each.changes).has_value()) << each.reason;
    EXPECT_NE(reason_.find(each.reason), std::string::npos) << reason_;
  }
}

TEST_F(MatchAttentionTest, AllIsF64OrNothing) {
  ASSERT_TRUE(match({{"f32", "f64"}, {"LOW", "0xFFF0000000000000"}}).has_value()) << reason_;
  const std::vector<Change> mixed = {
      {"f32", "f64"},
      {"LOW", "0xFFF0000000000000"},
      {"2x16x6xf64", "2x16x6xf32"},
      {"2x8x6xf64", "2x8x6xf32"},
      {"%fo = linalg.fill ins(%zero : f64)",
       "%narrow = arith.constant 0.0 : f32\n%fo = linalg.fill ins(%narrow : f32)"},
      {"%w = arith.divf %e, %wide_sum : tensor<2x8x16xf64>",
       "%e64 = arith.divf %e, %wide_sum : tensor<2x8x16xf64>\n"
       "%w = arith.truncf %e64 : tensor<2x8x16xf64> to tensor<2x8x16xf32>"},
      {"ins(WEIGHTS, %v : tensor<2x8x16xf64>", "ins(WEIGHTS, %v : tensor<2x8x16xf32>"},
      {"%wide_o = linalg.broadcast ins(%sum : tensor<2x8xf64>) outs(%eo : tensor<2x8x6xf32>) dimensions = [2]", ""},
      {"%behind = arith.divf %o, %wide_o : tensor<2x8x6xf32>", ""}};
  EXPECT_FALSE(match(mixed).has_value());
  EXPECT_EQ(reason_, "its logits and its results are not both computed in f64");
}

TEST_F(MatchAttentionTest, SaysNothingOfOtherProducts) {
  EXPECT_FALSE(match({{"WEIGHTS", "%x"}}).has_value());
  EXPECT_EQ(reason_, "");
}

} // namespace
} // namespace tenon::compiler::dispatch
