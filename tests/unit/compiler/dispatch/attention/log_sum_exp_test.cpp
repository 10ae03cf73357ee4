// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/log_sum_exp.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/build.h"
#include "compiler/dispatch/attention/match.h"
#include "compiler/dispatch/forming/form_groups.h"
#include "compiler/dispatch/log_sum.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/attention/training_text.h"

#include "mlir/IR/Verifier.h"

#include <cmath>

namespace tenon::compiler::dispatch {
namespace {

class LogSumExpTest : public KernelTextTest {
protected:
  std::optional<AttentionMatch> match(const std::string &text) {
    function_ = parseFunction(text);
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    std::optional<AttentionMatch> found;
    reason_.clear();
    for (auto op : function_.front().getOps<mlir::linalg::GenericOp>()) {
      std::string reason;
      if (std::optional<AttentionMatch> match = matchAttention(op, reason))
        found = match;
      if (!reason.empty())
        reason_ = reason;
    }
    return found;
  }
  std::optional<AttentionMatch> matchLogarithm(const std::string &body, const std::string &result) {
    return match(trainingText(logarithmText(body, result), "%o, %lse", "tensor<2x256x64xf32>, tensor<2x256xf32>"));
  }
  KeyRanges ranges_;
  GroupedBlock groups(const AttentionMatch &match) {
    buildAttention(match, ranges_);
    eraseDeadOperations(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    return formGroups(function_.front());
  }

  mlir::func::FuncOp function_;
  std::string reason_;
};

TEST_F(LogSumExpTest, IsAResultOfTheAttention) {
  const auto found = matchLogarithm(kLogarithm, "%r");
  ASSERT_TRUE(found) << reason_;
  ASSERT_EQ(found->logSums.size(), 1u);
  EXPECT_EQ(found->logSums.front().factor, 1);
  EXPECT_TRUE(std::isnan(found->hiddenLogSum));
  const GroupedBlock grouped = groups(*found);
  ASSERT_EQ(grouped.groups.size(), 1u);
  EXPECT_TRUE(grouped.groups.front().softmax);
  ASSERT_TRUE(grouped.groups.front().logSum);
  EXPECT_FALSE(grouped.groups.front().isPerRow(grouped.groups.front().logSum));
}

TEST_F(LogSumExpTest, StandsInFrontOfTheLastProductToo) {
  const auto found =
      match(trainingText("", "%o, %lse", "tensor<2x256x64xf32>, tensor<2x256xf32>", logarithmText(kLogarithm, "%r")));
  ASSERT_TRUE(found) << reason_;
  EXPECT_EQ(groups(*found).groups.size(), 1u);
}

TEST_F(LogSumExpTest, MayBeTurnedAndMultiplied) {
  const std::string inTwo = "      %l = math.log2 %y : f32\n      %c = arith.constant 1.44269504 : f32\n"
                            "      %b = arith.mulf %x, %c : f32\n      %r = arith.addf %l, %b : f32\n";
  const auto found = match(trainingText(logarithmText(inTwo, "%r", "#turned", "tensor<256x2xf32>"), "%o, %lse",
                                        "tensor<2x256x64xf32>, tensor<256x2xf32>"));
  ASSERT_TRUE(found) << reason_;
  ASSERT_EQ(found->logSums.size(), 1u);
  EXPECT_NEAR(found->logSums.front().factor, 1.44269504, 1e-6);
  // One kernel more turns and multiplies it.
  EXPECT_EQ(groups(*found).groups.size(), 2u);
}

TEST_F(LogSumExpTest, OfHiddenRowsIsWhatTheProgramSays) {
  const std::string guarded =
      "      %none = arith.cmpf oeq, %y, %zero : f32\n      %y1 = arith.select %none, %one, %y : f32\n"
      "      %l = math.log %y1 : f32\n      %r = arith.addf %x, %l : f32\n";
  const auto found = matchLogarithm(guarded, "%r");
  ASSERT_TRUE(found) << reason_;
  EXPECT_TRUE(std::isnan(found->hiddenLogSum)) << "-inf is subtracted from -inf before";
}

TEST_F(LogSumExpTest, OtherNumbersOfARowAreStored) {
  EXPECT_FALSE(matchLogarithm("      %l = math.log %y : f32\n      %c = arith.mulf %x, %two : f32\n"
                              "      %r = arith.addf %c, %l : f32\n",
                              "%r"))
      << "twice the maximum";
  EXPECT_FALSE(matchLogarithm("      %r = math.log %y : f32\n", "%r")) << "no maximum";
  EXPECT_FALSE(match(trainingText("", "%o, %t", "tensor<2x256x64xf32>, tensor<2x256xf32>"))) << "the sum";
  EXPECT_NE(reason_.find("are read by another operation too"), std::string::npos) << reason_;
}

TEST_F(LogSumExpTest, OpensIntoReductions) {
  const auto found = matchLogarithm(kLogarithm, "%r");
  ASSERT_TRUE(found) << reason_;
  buildAttention(*found, ranges_);
  eraseDeadOperations(function_);
  for (auto op : llvm::to_vector(function_.front().getOps<mlir::linalg::GenericOp>()))
    if (op->hasAttr(kLogSumExp))
      openLogSum(op);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
  unsigned reductions = 0;
  for (auto op : function_.front().getOps<mlir::linalg::GenericOp>()) {
    EXPECT_FALSE(op->hasAttr(kLogSumExp));
    reductions += isTreeReduction(op);
  }
  EXPECT_EQ(reductions, 2u);
}

} // namespace
} // namespace tenon::compiler::dispatch
