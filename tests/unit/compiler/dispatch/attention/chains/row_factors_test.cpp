// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chains/row_factors.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/triplets.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

// The gradient of attention by queries; tests change what weights are computed by.
const char kText[] = R"mlir(
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
#across = affine_map<(b, m, d, n) -> (b, m, n)>
#keys = affine_map<(b, m, d, n) -> (b, n, d)>
#queries = affine_map<(b, m, d, n) -> (b, m, d)>
func.func @f(%q: tensor<2x384x64xbf16>, %k: tensor<2x320x64xbf16>, %v: tensor<2x320x64xbf16>, %g: tensor<2x384x64xbf16>,
             %l: tensor<LOGARITHMxf32>, %o: tensor<2x384x64xf32>, %gw: tensor<2x384x64xf32>) -> tensor<2x384x64xf32> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant FACTOR : f32
  %least = arith.constant LEAST : f32
  %es = tensor.empty() : tensor<2x384x320xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x384x320xf32>) -> tensor<2x384x320xf32>
  %en = tensor.empty() : tensor<2x384x320xbf16>
  %eq = tensor.empty() : tensor<2x384x64xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<2x384x64xf32>) -> tensor<2x384x64xf32>
  %er = tensor.empty() : tensor<2x384xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x384xf32>) -> tensor<2x384xf32>
  %r = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%o, %gw : tensor<2x384x64xf32>, tensor<2x384x64xf32>) outs(%fr : tensor<2x384xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %xy = arith.mulf %x, %y : f32
      %t = arith.addf %sum, %xy : f32
      linalg.yield %t : f32
  } -> tensor<2x384xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<2x384x64xbf16>, tensor<2x320x64xbf16>)
      outs(%fs : tensor<2x384x320xf32>) -> tensor<2x384x320xf32>
  %dp = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<2x384x64xbf16>, tensor<2x320x64xbf16>)
      outs(%fs : tensor<2x384x320xf32>) -> tensor<2x384x320xf32>
  %ds = linalg.generic {indexing_maps = [#all, #all, #LOGMAP, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %dp, %l, %r : tensor<2x384x320xf32>, tensor<2x384x320xf32>, tensor<LOGARITHMxf32>, tensor<2x384xf32>) outs(%en : tensor<2x384x320xbf16>) {
    ^bb0(%x: f32, %y: f32, %log: f32, %sum: f32, %unused: bf16):
      %scaled = arith.mulf %x, %factor : f32
      LOGIT
      %less = arith.subf %logit, %log : f32
      %p = math.exp %less : f32
      %away = arith.subf %y, %sum : f32
      WEIGHT
      %narrow = arith.truncf %w : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<2x384x320xbf16>
  %dq = linalg.batch_matmul indexing_maps = [#across, #keys, #queries]
      ins(%ds, %k : tensor<2x384x320xbf16>, tensor<2x320x64xbf16>) outs(%fq : tensor<2x384x64xf32>) -> tensor<2x384x64xf32>
  return %dq : tensor<2x384x64xf32>
}
)mlir";
const char kProductFirst[] = "%pd = arith.mulf %p, %away : f32\n %w = arith.mulf %pd, %factor : f32";
const char kFactorFirst[] = "%df = arith.mulf %away, %factor : f32\n %w = arith.mulf %p, %df : f32";

class RowFactorsTest : public KernelTextTest {
protected:
  /// The operation that computes the weights.
  mlir::linalg::GenericOp rewritten(std::map<std::string, std::string> with = {}) {
    with.insert({{"LOGARITHM", "2x384"},
                 {"LOGMAP", "row"},
                 {"FACTOR", "0.125"},
                 {"LEAST", "0xFF800000"},
                 {"WEIGHT", kProductFirst},
                 {"LOGIT", ""},
                 {"%logit, ", "%scaled, "}});
    std::string text = kText;
    for (const auto &[what, other] : with)
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + other.size()))
        text.replace(at, what.size(), other);
    function_ = parseFunction(text);
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    EXPECT_EQ(buildChains(function_), 1);
    multiplyRowsFirst(function_);
    eraseDeadOperations(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    for (auto op : function_.front().getOps<mlir::linalg::GenericOp>())
      if (op->hasAttr(kChainAttr) && op.getNumReductionLoops() == 0)
        return op;
    return {};
  }
  template <typename Op> static int64_t count(mlir::linalg::GenericOp op) {
    return llvm::range_size(op.getBody()->getOps<Op>());
  }
  /// Operations that multiply rows in front, and how many results they have.
  std::vector<unsigned> inFront() {
    std::vector<unsigned> results;
    for (auto op : function_.front().getOps<mlir::linalg::GenericOp>())
      if (op->hasAttr(kStoredAttr))
        results.push_back(op->getNumResults());
    return results;
  }
  mlir::func::FuncOp function_;
};

TEST_F(RowFactorsTest, AreMultipliedOnce) {
  for (const char *weight : {kProductFirst, kFactorFirst}) {
    mlir::linalg::GenericOp weights = rewritten({{"WEIGHT", weight}});
    ASSERT_TRUE(weights);
    EXPECT_EQ(count<mlir::arith::MulFOp>(weights), 3); // each score by its factor, and both
    EXPECT_EQ(count<mlir::arith::SubFOp>(weights), 2);
    EXPECT_EQ(weights.getNumDpsInputs(), 4);
    EXPECT_EQ(inFront(), std::vector<unsigned>{2}); // in the kernel of the sum
    for (auto power : weights.getBody()->getOps<mlir::math::Exp2Op>())
      EXPECT_TRUE(power.getOperand().getDefiningOp<mlir::arith::SubFOp>());
  }
}

TEST_F(RowFactorsTest, HideByWhatStaysInfinite) {
  const std::string hide =
      "%i = linalg.index 1 : index\n %j = linalg.index 2 : index\n %seen = arith.cmpi sge, %i, %j : index\n"
      "%logit = arith.select %seen, %scaled, %least : f32";
  std::map<std::string, std::string> with = {{"LOGIT", hide}, {"%logit, ", "%logit, "}};
  rewritten(with);
  EXPECT_EQ(inFront(), std::vector<unsigned>{2});
  // A number that is finite may be infinite when it is multiplied.
  with["LEAST"] = "-3.0e38";
  rewritten(with);
  EXPECT_EQ(inFront(), std::vector<unsigned>{1});
  // Less than nothing times -inf is infinite.
  with["LEAST"] = "0xFF800000";
  with["%p = math.exp %less"] = "%turn = arith.constant -0.5 : f32\n %turned = arith.mulf %less, %turn : f32\n"
                                "%p = math.exp2 %turned";
  rewritten(with);
  EXPECT_EQ(inFront(), std::vector<unsigned>{1});
}

TEST_F(RowFactorsTest, LeaveWhatIsAddedToScores) {
  rewritten({{"LOGIT", "%logit = arith.addf %scaled, %y : f32"}, {"%logit, ", "%logit, "}});
  EXPECT_EQ(inFront(), std::vector<unsigned>{1});
}

TEST_F(RowFactorsTest, LeaveFactorsThatAreLargeOrSmall) {
  rewritten({{"FACTOR", "1.0e-5"}});
  EXPECT_TRUE(inFront().empty());
  EXPECT_EQ(count<mlir::arith::MulFOp>(rewritten({{"FACTOR", "2.0"}})), 3); // one behind, the score, and both
  EXPECT_EQ(inFront(), std::vector<unsigned>{2});                           // the sum as it is
}

TEST_F(RowFactorsTest, HaveNoKernelOfTheirOwn) {
  EXPECT_EQ(count<mlir::arith::MulFOp>(rewritten({{"%l, %r :", "%l, %l :"}})), 5); // two of which each row needs once
  EXPECT_TRUE(inFront().empty());
}

TEST_F(RowFactorsTest, LeaveWhatEachWeightHasOneOf) {
  rewritten({{"LOGARITHM", "2x384x320"}, {"LOGMAP", "all"}});
  EXPECT_EQ(inFront(), std::vector<unsigned>{1});
}

} // namespace
} // namespace tenon::compiler::dispatch
