// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chains/kept_weights.h"

#include "tests/unit/compiler/dispatch/attention/gradients_text.h"

namespace tenon::compiler::dispatch {
namespace {

void keepUpTo4GiB(mlir::func::FuncOp function) {
  keepWeights(function, int64_t(4) << 30);
}
void keepNone(mlir::func::FuncOp function) {
  keepWeights(function, 0);
}

class KeptWeightsTest : public GradientsTest {
protected:
  /// How many groups store their weights for a product, which is a group of its own.
  int64_t kept(const std::string &text, std::map<std::string, std::string> with = {},
               void (*keep)(mlir::func::FuncOp) = keepUpTo4GiB) {
    with.insert({{"x64x", "x128x"}, {"320", "400"}});
    const GroupedBlock grouped = join(text, std::move(with), keep);
    return llvm::count_if(grouped.groups, [&](const Group &group) {
      return group.across && !reduces(group.across) && grouped.groups.size() == 2;
    });
  }
};

TEST_F(KeptWeightsTest, AreForAProductOfItsOwn) {
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

TEST_F(KeptWeightsTest, FitMemory) {
  const std::string text = std::string(kQueries) + kKeys + kValues;
  EXPECT_EQ(kept(text, {{"BATCH", "13981"}}), 1); // 4 GiB
  EXPECT_EQ(kept(text, {{"BATCH", "13982"}}), 0);
  EXPECT_EQ(kept(text, {}, keepNone), 0);
}

TEST_F(KeptWeightsTest, LieInRowsThatCopiesWrite) {
  const std::string text = std::string(kQueries) + kKeys + kValues;
  EXPECT_EQ(kept(text, {{"384", "388"}}), 0);
  EXPECT_EQ(kept(text, {{"384", "392"}}), 1);
  EXPECT_EQ(kept(text, {{"320", "401"}}), 1);
}

TEST_F(KeptWeightsTest, HaveNotFewColumns) {
  const std::string text = std::string(kQueries) + kKeys + kValues;
  EXPECT_EQ(kept(text, {{"x64x", "x64x"}}), 0);
}

TEST_F(KeptWeightsTest, AreNotHiddenByAMask) {
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
