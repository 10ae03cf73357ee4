// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chains/twins.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/chain.h"
#include "compiler/dispatch/forming/form_groups.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

// Gradients by keys and by values, between which something may stand. Tests change a part of it.
const char kGradients[] = R"mlir(
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
#weights = affine_map<(b, n, d, m) -> (b, m, n)>
#values = affine_map<(b, n, d, m) -> (b, m, d)>
#made = affine_map<(b, n, d, m) -> (b, n, d)>
func.func @f(%q: tensor<BATCHx384xDEPTHxbf16>, %k: tensor<BATCHx320xDEPTHxbf16>, %v: tensor<BATCHx320xCOLUMNSxbf16>, %g: tensor<BATCHx384xCOLUMNSxbf16>,
             %other: tensor<BATCHx384xDEPTHxbf16>, %lse: tensor<BATCHx384xf32>) -> (tensor<BATCHx320xCOLUMNSxf32>, tensor<BATCHx320xDEPTHxf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<BATCHx384x320xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %en = tensor.empty() : tensor<BATCHx384x320xbf16>
  %ek = tensor.empty() : tensor<BATCHx320xDEPTHxf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<BATCHx320xDEPTHxf32>) -> tensor<BATCHx320xDEPTHxf32>
  %ev = tensor.empty() : tensor<BATCHx320xCOLUMNSxf32>
  %fv = linalg.fill ins(%zero : f32) outs(%ev : tensor<BATCHx320xCOLUMNSxf32>) -> tensor<BATCHx320xCOLUMNSxf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<BATCHx384xDEPTHxbf16>, tensor<BATCHx320xDEPTHxbf16>)
      outs(%fs : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %dp = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<BATCHx384xCOLUMNSxbf16>, tensor<BATCHx320xCOLUMNSxbf16>)
      outs(%fs : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %lse : tensor<BATCHx384x320xf32>, tensor<BATCHx384xf32>) outs(%es : tensor<BATCHx384x320xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      linalg.yield %e : f32
  } -> tensor<BATCHx384x320xf32>
  %ds = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %dp : tensor<BATCHx384x320xf32>, tensor<BATCHx384x320xf32>) outs(%en : tensor<BATCHx384x320xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %w = arith.mulf %x, %y : f32
      %narrow = arith.truncf %w : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<BATCHx384x320xbf16>
  %pn = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<BATCHx384x320xf32>) outs(%en : tensor<BATCHx384x320xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %narrow = arith.truncf %x : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<BATCHx384x320xbf16>
  %dv = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%pn, %g : tensor<BATCHx384x320xbf16>, tensor<BATCHx384xCOLUMNSxbf16>) outs(%fv : tensor<BATCHx320xCOLUMNSxf32>) -> tensor<BATCHx320xCOLUMNSxf32>
  %twice = linalg.add ins(%dv, %dv : tensor<BATCHx320xCOLUMNSxf32>, tensor<BATCHx320xCOLUMNSxf32>) outs(%ev : tensor<BATCHx320xCOLUMNSxf32>) -> tensor<BATCHx320xCOLUMNSxf32>
  %dk = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%ds, QUERIES : tensor<BATCHx384x320xbf16>, tensor<BATCHx384xDEPTHxbf16>) outs(%fk : tensor<BATCHx320xDEPTHxf32>) -> tensor<BATCHx320xDEPTHxf32>
  return %twice, %dk : tensor<BATCHx320xCOLUMNSxf32>, tensor<BATCHx320xDEPTHxf32>
}
)mlir";

class TwinsTest : public KernelTextTest {
protected:
  GroupedBlock join(const std::string &batch = "32", const std::string &depth = "64", const std::string &queries = "%q",
                    const std::string &columns = "64") {
    std::string text = kGradients;
    for (const auto &[what, with] : {std::pair<std::string, std::string>{"BATCH", batch},
                                     {"DEPTH", depth},
                                     {"QUERIES", queries},
                                     {"COLUMNS", columns}})
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    function_ = parseFunction(text);
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    int64_t number = 0;
    KeyRanges ranges;
    for (const AttentionMatch &match : chainsOf(function_.front()))
      buildChain(match, number++, ranges);
    EXPECT_EQ(number, 2);
    eraseDeadOperations(function_);
    joinTwins(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    return formGroups(function_.front());
  }
  mlir::func::FuncOp function_;
};

TEST_F(TwinsTest, AreOneKernelWithTwoResults) {
  const GroupedBlock grouped = join();
  ASSERT_EQ(grouped.groups.size(), 1u);
  const Group &group = grouped.groups.front();
  ASSERT_TRUE(group.chained);
  mlir::linalg::GenericOp weights = group.chained;
  EXPECT_EQ(weights->getNumResults(), 2u);
  // Two products, the weights, two last products, and what is computed from one of them.
  EXPECT_EQ(group.ops.size(), 6u);
  EXPECT_EQ(llvm::range_size(weights.getBody()->getOps<mlir::math::Exp2Op>()), 1) << "computed once";
  // Whoever reads the first result of the two stands behind both.
  EXPECT_EQ(llvm::count(group.isReduced, true), 3);
  for (mlir::linalg::GenericOp op : group.ops)
    if (op.getNumReductionLoops() == 0 && op != weights)
      EXPECT_TRUE(group.isPerRow(op));
}

TEST_F(TwinsTest, NeedEnoughTiles) {
  EXPECT_EQ(join("21").groups.size(), 2u); // 63
  EXPECT_EQ(join("22").groups.size(), 1u);
}

TEST_F(TwinsTest, HaveTheSameColumns) {
  EXPECT_EQ(join("32", "128").groups.size(), 2u);
}

// Columns of a tile that are none are zeros.
TEST_F(TwinsTest, HaveAnyColumnsThatAreVectors) {
  for (const std::string columns : {"16", "24", "40", "96", "128"})
    EXPECT_EQ(join("32", columns, "%q", columns).groups.size(), 1u) << columns;
  for (const std::string columns : {"8", "36"})
    EXPECT_NE(join("32", columns, "%q", columns).groups.size(), 1u) << columns;
}

TEST_F(TwinsTest, ReadValuesThatAreFactors) {
  EXPECT_EQ(join("32", "64", "%other").groups.size(), 2u);
}

} // namespace
} // namespace tenon::compiler::dispatch
