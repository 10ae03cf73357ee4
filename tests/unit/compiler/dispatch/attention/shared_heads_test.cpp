// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/shared_heads.h"

#include "compiler/dispatch/attention/chain.h"
#include "compiler/dispatch/attention/chains/twins.h"
#include "compiler/dispatch/forming/form_groups.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

// The gradient by values that GROUP heads share.
const char kByValues[] = R"mlir(
func.func @f(%q: tensor<2xGROUPx256x64xbf16>, %k: tensor<2x300x64xbf16>, %g: tensor<2xGROUPx256x64xbf16>) -> tensor<2x300x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2xGROUPx256x300xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2xGROUPx256x300xf32>) -> tensor<2xGROUPx256x300xf32>
  %en = tensor.empty() : tensor<2xGROUPx256x300xbf16>
  %eo = tensor.empty() : tensor<2x300x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x300x64xf32>) -> tensor<2x300x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, g, m, n, d) -> (b, g, m, d)>, affine_map<(b, g, m, n, d) -> (b, n, d)>, affine_map<(b, g, m, n, d) -> (b, g, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2xGROUPx256x64xbf16>, tensor<2x300x64xbf16>) outs(%fs : tensor<2xGROUPx256x300xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<2xGROUPx256x300xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(b, g, m, n) -> (b, g, m, n)>, affine_map<(b, g, m, n) -> (b, g, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2xGROUPx256x300xf32>) outs(%en : tensor<2xGROUPx256x300xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %e = math.exp %x : f32
      %narrow = arith.truncf %e : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<2xGROUPx256x300xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(b, n, d, g, m) -> (b, g, m, n)>, affine_map<(b, n, d, g, m) -> (b, g, m, d)>, affine_map<(b, n, d, g, m) -> (b, n, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%w, %g : tensor<2xGROUPx256x300xbf16>, tensor<2xGROUPx256x64xbf16>) outs(%fo : tensor<2x300x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x300x64xf32>
  return %r : tensor<2x300x64xf32>
}
)mlir";

class SharedHeadsTest : public KernelTextTest {
protected:
  void split(const std::string &group) {
    std::string text = kByValues;
    for (size_t at = text.find("GROUP"); at != std::string::npos; at = text.find("GROUP", at))
      text.replace(at, 5, group);
    function_ = parseFunction(text);
    EXPECT_TRUE(hasSharedHeads(function_));
    EXPECT_TRUE(chainsOf(function_.front()).empty());
    splitSharedHeads(function_);
    eraseDeadOperations(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
  }
  mlir::func::FuncOp function_;
};

TEST_F(SharedHeadsTest, AddsUpASumForEachHead) {
  split("4");
  EXPECT_FALSE(hasSharedHeads(function_));
  const auto chains = chainsOf(function_.front());
  ASSERT_EQ(chains.size(), 1u);
  mlir::linalg::GenericOp parts = chains.front().output;
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(parts->getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{4, 2, 300, 64}));
  ASSERT_TRUE(parts->hasOneUse());
  auto sum = llvm::cast<mlir::linalg::GenericOp>(*parts->getUsers().begin());
  EXPECT_EQ(sum.getNumReductionLoops(), 1u);
}

// Gradients by keys and values that four heads share.
const char kBoth[] = R"mlir(
#bmk = affine_map<(b, g, m, n, d) -> (b, g, m, d)>
#bnk = affine_map<(b, g, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, g, m, n, d) -> (b, g, m, n)>
#all = affine_map<(b, g, m, n) -> (b, g, m, n)>
#row = affine_map<(b, g, m, n) -> (b, g, m)>
func.func @f(%q: tensor<BATCHx4xLENGTHx64xbf16>, %k: tensor<BATCHx1024x64xbf16>, %v: tensor<BATCHx1024x64xbf16>, %g: tensor<BATCHx4xLENGTHx64xbf16>,
             %lse: tensor<BATCHx4xLENGTHxf32>, %es: tensor<BATCHx4xLENGTHx1024xf32>, %en: tensor<BATCHx4xLENGTHx1024xbf16>,
             %fs: tensor<BATCHx4xLENGTHx1024xf32>, %eo: tensor<BATCHx1024x64xf32>) -> (tensor<BATCHx1024x64xf32>, tensor<BATCHx1024x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%fs : tensor<BATCHx4xLENGTHx1024xf32>) -> tensor<BATCHx4xLENGTHx1024xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<BATCHx1024x64xf32>) -> tensor<BATCHx1024x64xf32>
  %s = linalg.contract indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<BATCHx4xLENGTHx64xbf16>, tensor<BATCHx1024x64xbf16>)
      outs(%z : tensor<BATCHx4xLENGTHx1024xf32>) -> tensor<BATCHx4xLENGTHx1024xf32>
  %dp = linalg.contract indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<BATCHx4xLENGTHx64xbf16>, tensor<BATCHx1024x64xbf16>)
      outs(%z : tensor<BATCHx4xLENGTHx1024xf32>) -> tensor<BATCHx4xLENGTHx1024xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %lse : tensor<BATCHx4xLENGTHx1024xf32>, tensor<BATCHx4xLENGTHxf32>) outs(%es : tensor<BATCHx4xLENGTHx1024xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %h = arith.constant 0xFF800000 : f32
      %m = linalg.index 2 : index
      %n = linalg.index 3 : index
      %seen = arith.cmpi sge, %m, %n : index
      %c = HIDDEN
      %less = arith.subf %c, %y : f32
      %e = math.exp %less : f32
      linalg.yield %e : f32
  } -> tensor<BATCHx4xLENGTHx1024xf32>
  %ds = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %dp : tensor<BATCHx4xLENGTHx1024xf32>, tensor<BATCHx4xLENGTHx1024xf32>) outs(%en : tensor<BATCHx4xLENGTHx1024xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %w = arith.mulf %x, %y : f32
      %narrow = arith.truncf %w : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<BATCHx4xLENGTHx1024xbf16>
  %pn = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p : tensor<BATCHx4xLENGTHx1024xf32>) outs(%en : tensor<BATCHx4xLENGTHx1024xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %narrow = arith.truncf %x : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<BATCHx4xLENGTHx1024xbf16>
  %dv = linalg.contract indexing_maps = [#bmn, #bmk, #bnk] ins(%pn, %g : tensor<BATCHx4xLENGTHx1024xbf16>, tensor<BATCHx4xLENGTHx64xbf16>)
      outs(%fo : tensor<BATCHx1024x64xf32>) -> tensor<BATCHx1024x64xf32>
  %dk = linalg.contract indexing_maps = [#bmn, #bmk, #bnk] ins(%ds, %q : tensor<BATCHx4xLENGTHx1024xbf16>, tensor<BATCHx4xLENGTHx64xbf16>)
      outs(%fo : tensor<BATCHx1024x64xf32>) -> tensor<BATCHx1024x64xf32>
  return %dv, %dk : tensor<BATCHx1024x64xf32>, tensor<BATCHx1024x64xf32>
}
)mlir";

class SharedTwinsTest : public KernelTextTest {
protected:
  /// How many dimensions the gradients sum over, in all kernels that are chains.
  int64_t reductionsOf(const std::string &batch, const std::string &length, bool isCausal = false,
                       bool anyOrder = false) {
    std::string text = kBoth;
    const std::string hidden = isCausal ? "arith.select %seen, %x, %h : f32" : "arith.addf %x, %x : f32";
    for (const auto &[what, with] :
         {std::pair<std::string, std::string>{"BATCH", batch}, {"LENGTH", length}, {"HIDDEN", hidden}})
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    function_ = parseFunction(text);
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    splitSharedHeads(function_);
    eraseDeadOperations(function_);
    int64_t number = 0;
    KeyRanges ranges;
    for (const AttentionMatch &match : chainsOf(function_.front()))
      buildChain(match, number++, ranges);
    EXPECT_EQ(number, 2);
    eraseDeadOperations(function_);
    joinTwins(function_);
    joinSharedHeads(function_, anyOrder);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    const GroupedBlock grouped = formGroups(function_.front());
    int64_t reductions = 0;
    for (const Group &group : grouped.groups)
      if (group.chained)
        reductions += llvm::count(group.isReduced, true);
    return reductions;
  }
  mlir::func::FuncOp function_;
};

// Depths and queries; and heads, where one kernel goes through all of them.
constexpr int64_t kApart = 3, kTogether = 4;

TEST_F(SharedTwinsTest, AreAddedUpInTheirKernel) {
  EXPECT_EQ(reductionsOf("32", "1024"), kTogether);
  EXPECT_EQ(reductionsOf("?", "1024"), kTogether);
}

TEST_F(SharedTwinsTest, HaveKnownBlocksOfQueries) {
  EXPECT_EQ(reductionsOf("32", "1000"), kTogether);
  EXPECT_EQ(reductionsOf("32", "?"), kApart);
}

TEST_F(SharedTwinsTest, HaveWholeBlocksOfQueriesWhereTheyMayBecomeTriplets) {
  EXPECT_EQ(reductionsOf("32", "1000", false, true), kApart);
  EXPECT_EQ(reductionsOf("32", "1024", false, true), kTogether);
}

// Fewer scores than elements that they are computed from.
TEST_F(SharedTwinsTest, TakeFewQueries) {
  EXPECT_EQ(reductionsOf("32", "32"), kTogether);
}

TEST_F(SharedTwinsTest, NeedTilesForAllMultiprocessors) {
  EXPECT_EQ(reductionsOf("8", "1024"), kApart);  // 64 tiles
  EXPECT_EQ(reductionsOf("17", "1024"), kApart); // 136: two rounds of 132, where parts are 4.1
}

TEST_F(SharedTwinsTest, NeedMoreTilesWhereSomeAreLonger) {
  EXPECT_EQ(reductionsOf("16", "1024"), kTogether); // 128
  EXPECT_EQ(reductionsOf("16", "1024", true), kApart);
  EXPECT_EQ(reductionsOf("32", "1024", true), kTogether);
}

} // namespace
} // namespace tenon::compiler::dispatch
