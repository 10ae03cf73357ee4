// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chain.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/forming/form_groups.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

// Gradients by queries and by values, of weights that one scores' product and a gradient by them give. Tests change a
// part of it.
const char kGradients[] = R"mlir(
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @f(%q: tensor<2xROWSx64xTYPE>, %k: tensor<2xKEYSx64xTYPE>, %v: tensor<2xKEYSx64xTYPE>, %g: tensor<2xROWSx64xTYPE>,
             %lse: tensor<2xROWSxf32>) -> (tensor<2xROWSx64xf32>, tensor<2xKEYSx64xf32>MORE_TYPES) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2xROWSxKEYSxf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2xROWSxKEYSxf32>) -> tensor<2xROWSxKEYSxf32>
  %en = tensor.empty() : tensor<2xROWSxKEYSxTYPE>
  %eq = tensor.empty() : tensor<2xROWSx64xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<2xROWSx64xf32>) -> tensor<2xROWSx64xf32>
  %ek = tensor.empty() : tensor<2xKEYSx64xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<2xKEYSx64xf32>) -> tensor<2xKEYSx64xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<2xROWSx64xTYPE>, tensor<2xKEYSx64xTYPE>)
      outs(%fs : tensor<2xROWSxKEYSxf32>) -> tensor<2xROWSxKEYSxf32>
  %dp = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<2xROWSx64xTYPE>, tensor<2xKEYSx64xTYPE>)
      outs(%fs : tensor<2xROWSxKEYSxf32>) -> tensor<2xROWSxKEYSxf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %lse : tensor<2xROWSxKEYSxf32>, tensor<2xROWSxf32>) outs(%es : tensor<2xROWSxKEYSxf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      linalg.yield %e : f32
  } -> tensor<2xROWSxKEYSxf32>
  %ds = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %dp : tensor<2xROWSxKEYSxf32>, tensor<2xROWSxKEYSxf32>) outs(%en : tensor<2xROWSxKEYSxTYPE>) {
    ^bb0(%x: f32, %y: f32, %o: TYPE):
      %w = arith.mulf %x, %y : f32
      %narrow = arith.truncf %w : f32 to TYPE
      linalg.yield %narrow : TYPE
  } -> tensor<2xROWSxKEYSxTYPE>
  %pn = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<2xROWSxKEYSxf32>) outs(%en : tensor<2xROWSxKEYSxTYPE>) {
    ^bb0(%x: f32, %o: TYPE):
      %narrow = arith.truncf %x : f32 to TYPE
      linalg.yield %narrow : TYPE
  } -> tensor<2xROWSxKEYSxTYPE>
  %dq = linalg.batch_matmul ins(%ds, %k : tensor<2xROWSxKEYSxTYPE>, tensor<2xKEYSx64xTYPE>) outs(%fq : tensor<2xROWSx64xf32>) -> tensor<2xROWSx64xf32>
  %dv = linalg.batch_matmul indexing_maps = [affine_map<(b, n, d, m) -> (b, m, n)>, affine_map<(b, n, d, m) -> (b, m, d)>, affine_map<(b, n, d, m) -> (b, n, d)>]
      ins(%pn, %g : tensor<2xROWSxKEYSxTYPE>, tensor<2xROWSx64xTYPE>) outs(%fk : tensor<2xKEYSx64xf32>) -> tensor<2xKEYSx64xf32>
  return %dq, %dvMORE : tensor<2xROWSx64xf32>, tensor<2xKEYSx64xf32>MORE_TYPES
}
)mlir";

class ChainTest : public KernelTextTest {
protected:
  std::vector<AttentionMatch> chains(const std::string &rows, const std::string &keys, const std::string &type = "bf16",
                                     const std::string &more = "", const std::string &moreTypes = "") {
    std::string text = kGradients;
    for (const auto &[what, with] : {std::pair<std::string, std::string>{"ROWS", rows},
                                     {"KEYS", keys},
                                     {"MORE_TYPES", moreTypes},
                                     {"MORE", more},
                                     {"TYPE", type}})
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    function_ = parseFunction(text);
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    return chainsOf(function_.front());
  }
  mlir::func::FuncOp function_;
};

TEST_F(ChainTest, SeesEachProductThatReadsWeights) {
  const auto found = chains("256", "320");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].scores.size(), 2u);
  EXPECT_EQ(found[1].scores.size(), 1u);
}

TEST_F(ChainTest, HasAKernelForEach) {
  const auto found = chains("256", "320");
  KeyRanges ranges;
  for (auto [number, match] : llvm::enumerate(found))
    buildChain(match, int64_t(number), ranges);
  eraseDeadOperations(function_);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
  const GroupedBlock grouped = formGroups(function_.front());
  ASSERT_EQ(grouped.groups.size(), 2u);
  for (const Group &group : grouped.groups) {
    ASSERT_TRUE(group.chained);
    // Powers of two stand for exponentials.
    mlir::linalg::GenericOp weights = group.chained;
    EXPECT_TRUE(weights.getBody()->getOps<mlir::math::ExpOp>().empty());
    EXPECT_EQ(llvm::range_size(weights.getBody()->getOps<mlir::math::Exp2Op>()), 1);
  }
  EXPECT_EQ(grouped.groups[0].ops.size(), 4u);
  EXPECT_EQ(grouped.groups[1].ops.size(), 3u);
}

TEST_F(ChainTest, StoresWhatOthersReadAnyway) {
  // Weights by which values are multiplied are a result: so the product of the scores is stored, which both read.
  EXPECT_TRUE(chains("256", "320", "bf16", ", %pn", ", tensor<2x256x320xbf16>").empty());
  // What is computed from both products: neither is for the chains alone.
  EXPECT_TRUE(chains("256", "320", "bf16", ", %ds", ", tensor<2x256x320xbf16>").empty());
}

TEST_F(ChainTest, TakesFewerScoresThanOperands) {
  EXPECT_EQ(chains("77", "77").size(), 2u);
  EXPECT_EQ(chains("16", "16").size(), 2u);
}

TEST_F(ChainTest, LeavesWhatIsNotWorthIt) {
  EXPECT_TRUE(chains("256", "15").empty()) << "few keys";
  EXPECT_TRUE(chains("8", "320").empty()) << "few rows";
}

} // namespace
} // namespace tenon::compiler::dispatch
