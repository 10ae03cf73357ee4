// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/compiler/dispatch/attention/gradients_text.h"

namespace tenon::compiler::dispatch {
namespace {

class TripletsTest : public GradientsTest {
protected:
  GroupedBlock join(const std::string &text, std::map<std::string, std::string> with = {}) {
    return GradientsTest::join(text, std::move(with), joinTriplets);
  }
  /// How many groups have a third result.
  static int64_t triplets(const GroupedBlock &grouped) {
    return llvm::count_if(grouped.groups, [](const Group &group) { return bool(group.across); });
  }
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

} // namespace
} // namespace tenon::compiler::dispatch
