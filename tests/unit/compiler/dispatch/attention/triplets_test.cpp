// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/triplets.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/twins.h"
#include "compiler/dispatch/forming/form_groups.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

// All three gradients; tests change a part of it, or their order.
const char kHead[] = R"mlir(
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#weights = affine_map<(b, n, d, m) -> (b, m, n)>
#values = affine_map<(b, n, d, m) -> (b, m, d)>
#made = affine_map<(b, n, d, m) -> (b, n, d)>
#across = affine_map<(b, m, d, n) -> (b, m, n)>
#keys = affine_map<(b, m, d, n) -> (b, n, d)>
#queries = affine_map<(b, m, d, n) -> (b, m, d)>
func.func @f(%q: tensor<BATCHx384x64xbf16>, %k: tensor<BATCHx320x64xbf16>, %v: tensor<BATCHx320x64xbf16>, %g: tensor<BATCHx384x64xbf16>,
             %other: tensor<BATCHx320x64xbf16>) -> (tensor<BATCHx384x64xf32>, tensor<BATCHx320x64xf32>, tensor<BATCHx320x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<BATCHx384x320xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %en = tensor.empty() : tensor<BATCHx384x320xbf16>
  %ek = tensor.empty() : tensor<BATCHx320x64xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<BATCHx320x64xf32>) -> tensor<BATCHx320x64xf32>
  %eq = tensor.empty() : tensor<BATCHx384x64xf32>
  %fq = linalg.fill ins(START : f32) outs(%eq : tensor<BATCHx384x64xf32>) -> tensor<BATCHx384x64xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<BATCHx384x64xbf16>, tensor<BATCHx320x64xbf16>)
      outs(%fs : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %dp = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<BATCHx384x64xbf16>, tensor<BATCHx320x64xbf16>)
      outs(%fs : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<BATCHx384x320xf32>) outs(%en : tensor<BATCHx384x320xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %e = math.exp %x : f32
      %narrow = arith.truncf %e : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<BATCHx384x320xbf16>
  %ds = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %dp : tensor<BATCHx384x320xf32>, tensor<BATCHx384x320xf32>) outs(%en : tensor<BATCHx384x320xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %e = math.exp %x : f32
      %w = arith.mulf %e, %y : f32
      %narrow = arith.truncf %w : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<BATCHx384x320xbf16>
)mlir";
const char kValues[] = R"mlir(
  %dv = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%p, %g : tensor<BATCHx384x320xbf16>, tensor<BATCHx384x64xbf16>) outs(%fk : tensor<BATCHx320x64xf32>) -> tensor<BATCHx320x64xf32>
)mlir";
const char kKeys[] = R"mlir(
  %dk = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%ds, %q : tensor<BATCHx384x320xbf16>, tensor<BATCHx384x64xbf16>) outs(%fk : tensor<BATCHx320x64xf32>) -> tensor<BATCHx320x64xf32>
)mlir";
// What reads it stands right behind.
const char kQueries[] = R"mlir(
  %sum = linalg.batch_matmul indexing_maps = [#across, #keys, #queries]
      ins(WEIGHTS, KEYS : tensor<BATCHx384x320xbf16>, tensor<BATCHx320x64xbf16>) outs(%fq : tensor<BATCHx384x64xf32>) -> tensor<BATCHx384x64xf32>
  %dq = linalg.add ins(%sum, %sum : tensor<BATCHx384x64xf32>, tensor<BATCHx384x64xf32>) outs(%eq : tensor<BATCHx384x64xf32>) -> tensor<BATCHx384x64xf32>
)mlir";
const char kEnd[] =
    "  return %dq, %dk, %dv : tensor<BATCHx384x64xf32>, tensor<BATCHx320x64xf32>, tensor<BATCHx320x64xf32>\n}\n";

void keepUpTo4GiB(mlir::func::FuncOp function) {
  keepWeights(function, int64_t(4) << 30);
}
void keepNone(mlir::func::FuncOp function) {
  keepWeights(function, 0);
}

class TripletsTest : public KernelTextTest {
protected:
  GroupedBlock join(std::string text, std::map<std::string, std::string> with = {},
                    void (*joinMore)(mlir::func::FuncOp) = joinTriplets) {
    with.insert({{"BATCH", "32"}, {"START", "%zero"}, {"WEIGHTS", "%ds"}, {"KEYS", "%k"}});
    text = kHead + text + kEnd;
    for (const auto &[what, other] : with)
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + other.size()))
        text.replace(at, what.size(), other);
    function_ = parseFunction(text);
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    buildChains(function_);
    eraseDeadOperations(function_);
    joinTwins(function_);
    joinMore(function_);
    eraseDeadOperations(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    return formGroups(function_.front());
  }
  /// How many groups have a third result.
  static int64_t triplets(const GroupedBlock &grouped) {
    return llvm::count_if(grouped.groups, [](const Group &group) { return bool(group.across); });
  }
  /// How many groups store their weights for a product, which is a group of its own.
  int64_t kept(const std::string &text, std::map<std::string, std::string> with = {},
               void (*keep)(mlir::func::FuncOp) = keepUpTo4GiB) {
    with.insert({{"x64x", "x128x"}, {"320", "400"}});
    const GroupedBlock grouped = join(text, std::move(with), keep);
    return llvm::count_if(grouped.groups, [&](const Group &group) {
      return group.across && !reduces(group.across) && grouped.groups.size() == 2;
    });
  }
  mlir::func::FuncOp function_;
};

TEST_F(TripletsTest, AreOneKernelWithFiveProducts) {
  for (const std::string &text : {std::string(kQueries) + kKeys + kValues, std::string(kValues) + kQueries + kKeys,
                                  std::string(kKeys) + kValues + kQueries}) {
    const GroupedBlock grouped = join(text);
    ASSERT_EQ(grouped.groups.size(), 2u); // and what reads the third result
    const Group &group = grouped.groups.front().across ? grouped.groups.front() : grouped.groups.back();
    ASSERT_TRUE(group.across);
    EXPECT_EQ(llvm::count_if(group.ops, [](mlir::linalg::GenericOp op) { return op.getNumReductionLoops() != 0; }), 5);
    mlir::linalg::GenericOp weights = group.chained;
    EXPECT_EQ(weights->getNumResults(), 2u);
    EXPECT_EQ(llvm::count(group.isReduced, true), 3); // as without the third
    // It sums over what the others have results for, and nothing of the group reads it.
    EXPECT_TRUE(isReadOutside(group.across->getResult(0), group));
  }
}

TEST_F(TripletsTest, ReadTheSameWeights) {
  EXPECT_EQ(triplets(join(std::string(kQueries) + kKeys + kValues, {{"WEIGHTS", "%p"}})), 0);
}

TEST_F(TripletsTest, MultiplyTheKeysOfTheScores) {
  EXPECT_EQ(triplets(join(std::string(kQueries) + kKeys + kValues, {{"KEYS", "%other"}})), 0);
}

TEST_F(TripletsTest, AddToNothing) {
  EXPECT_EQ(triplets(join(std::string(kQueries) + "%unused = arith.constant 0.0 : f32\n" + kKeys + kValues,
                          {{"START", "%one"}, {"%zero = arith", "%one = arith.constant 1.0 : f32\n  %zero = arith"}})),
            0);
}

TEST_F(TripletsTest, NeedEnoughTiles) {
  EXPECT_EQ(triplets(join(std::string(kQueries) + kKeys + kValues, {{"BATCH", "21"}})), 0); // 63
  EXPECT_EQ(triplets(join(std::string(kQueries) + kKeys + kValues, {{"BATCH", "22"}})), 1);
}

TEST_F(TripletsTest, KeepWeightsForAProductOfItsOwn) {
  for (const std::string &text : {std::string(kQueries) + kKeys + kValues, std::string(kValues) + kQueries + kKeys,
                                  std::string(kKeys) + kValues + kQueries}) {
    const GroupedBlock grouped = join(text, {{"x64x", "x128x"}, {"320", "400"}}, keepUpTo4GiB);
    ASSERT_EQ(grouped.groups.size(), 2u); // twins; the product, and what reads it
    const Group &group = grouped.groups.front();
    ASSERT_TRUE(group.chained && group.across);
    EXPECT_EQ(llvm::count_if(group.ops, [](mlir::linalg::GenericOp op) { return reduces(op); }), 4);
    EXPECT_TRUE(mlir::getElementTypeOrSelf(group.across->getResult(0)).isBF16());
    EXPECT_TRUE(isReadOutside(group.across->getResult(0), group));
    // Queries of each key are neighbours, whatever order the program has them in.
    EXPECT_EQ(mlir::cast<mlir::ShapedType>(group.across->getResult(0).getType()).getShape(),
              (llvm::ArrayRef<int64_t>{32, 400, 384}));
    EXPECT_EQ(llvm::count_if(grouped.groups.back().ops, [](mlir::linalg::GenericOp op) { return reduces(op); }), 1);
  }
}

TEST_F(TripletsTest, KeepWeightsThatFitMemory) {
  const std::string text = std::string(kQueries) + kKeys + kValues;
  EXPECT_EQ(kept(text, {{"BATCH", "13981"}}), 1); // 4 GiB
  EXPECT_EQ(kept(text, {{"BATCH", "13982"}}), 0);
  EXPECT_EQ(kept(text, {}, keepNone), 0);
}

TEST_F(TripletsTest, KeepWeightsInRowsThatCopiesWrite) {
  const std::string text = std::string(kQueries) + kKeys + kValues;
  EXPECT_EQ(kept(text, {{"384", "388"}}), 0);
  EXPECT_EQ(kept(text, {{"384", "392"}}), 1);
  EXPECT_EQ(kept(text, {{"320", "401"}}), 1);
}

TEST_F(TripletsTest, KeepNoWeightsOfFewColumns) {
  const std::string text = std::string(kQueries) + kKeys + kValues;
  EXPECT_EQ(kept(text, {{"x64x", "x64x"}}), 0);
}

TEST_F(TripletsTest, KeepNoWeightsThatAMaskHides) {
  const std::string text = std::string(kQueries) + kKeys + kValues;
  EXPECT_EQ(kept(text, {{"%e = math.exp %x : f32", R"mlir(%none = arith.constant 0.0 : f32
      %row = linalg.index 1 : index
      %key = linalg.index 2 : index
      %seen = arith.cmpi sge, %row, %key : index
      %exp = math.exp %x : f32
      %e = arith.select %seen, %exp, %none : f32)mlir"}}),
            0);
}

} // namespace
} // namespace tenon::compiler::dispatch
