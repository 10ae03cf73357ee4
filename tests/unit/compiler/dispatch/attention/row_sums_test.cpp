// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/row_sums.h"

#include "compiler/dispatch/attention/match.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/attention/training_text.h"

#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

// Sums of weights times products of what is given and of %VALUES.
const char kSums[] = R"mlir(
  %dp = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %VALUES : tensor<2x256x64xbf16>, tensor<2x320x64xbf16>)
      outs(%fs : tensor<2x256x320xf32>) -> tensor<2x256x320xf32>
  %both = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%WEIGHTS, %dp : tensor<2x256x320xf32>, tensor<2x256x320xf32>) outs(%es : tensor<2x256x320xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %e = arith.mulf %x, %y : f32
      linalg.yield %e : f32
  } -> tensor<2x256x320xf32>
  %rows = linalg.reduce {arith.addf} ins(%both : tensor<2x256x320xf32>) outs(%fz : tensor<2x256xf32>) dimensions = [2]
)mlir";

class RowSumsTest : public KernelTextTest {
protected:
  bool exchange(const std::string &values, const std::string &weights, std::string *left = nullptr) {
    std::string sums = kSums;
    sums.replace(sums.find("VALUES"), 6, values);
    sums.replace(sums.find("WEIGHTS"), 7, weights);
    function_ = parseFunction(trainingText(sums, "%o, %rows", "tensor<2x256x64xf32>, tensor<2x256xf32>"));
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    bool any = false;
    for (auto op : llvm::to_vector(function_.front().getOps<mlir::linalg::GenericOp>())) {
      std::string reason;
      if (std::optional<AttentionMatch> match = matchAttention(op, reason, /*mustBeAlone=*/false))
        any |= exchangeRowSums(*match, left);
    }
    eraseDeadOperations(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    return any;
  }
  mlir::func::FuncOp function_;
};

TEST_F(RowSumsTest, AreThoseOfTheResult) {
  ASSERT_TRUE(exchange("v", "w"));
  auto rows = function_.front().getTerminator()->getOperand(1).getDefiningOp<mlir::linalg::GenericOp>();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows.getDpsInputs()[0], function_.front().getTerminator()->getOperand(0));
  EXPECT_EQ(rows.getDpsInputs()[1], function_.getArgument(3));
}

TEST_F(RowSumsTest, OfOtherValuesOrWeightsAreLeft) {
  EXPECT_FALSE(exchange("k", "w")) << "not the values that the result is computed from";
  EXPECT_FALSE(exchange("v", "p")) << "exponentials are no weights";
}

/// The result is computed from weights of bf16: sums of those of f32 are not the same.
TEST_F(RowSumsTest, ThatWouldBeRoundedAreLeft) {
  std::string left, again;
  EXPECT_FALSE(exchange("v", "w", &left));
  EXPECT_NE(left.find("tensor<2x256xf32>"), std::string::npos) << left;
  EXPECT_FALSE(exchange("v", "w", &again));
  EXPECT_EQ(left, again) << "alike";
  left.clear();
  EXPECT_FALSE(exchange("k", "w", &left));
  EXPECT_EQ(left, "") << "no sum of the weights at all";
}

} // namespace
} // namespace tenon::compiler::dispatch
