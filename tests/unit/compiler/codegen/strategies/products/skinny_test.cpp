// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/skinny.h"

#include "tests/unit/compiler/codegen/contraction/products.h"

namespace tenon::compiler::codegen {
namespace {

class SkinnyPlans : public ProductTest {
protected:
  std::vector<Plan> plans(int64_t m, int64_t n, int64_t k, const std::string &right = "nk",
                          const std::string &element = "bf16", const std::string &total = "f32") {
    const KernelFunction &kernel = read(
        "mk", right, {{'m', std::to_string(m)}, {'n', std::to_string(n)}, {'k', std::to_string(k)}}, element, total);
    return Skinny().plans(kernel, *shape_);
  }
};

TEST_F(SkinnyPlans, SmallProductsOfUpTo32RowsAreOfThem) {
  for (const char *right : {"nk", "kn"}) {
    EXPECT_EQ(plans(32, 2048, 512, right).size(), 1u) << right;
    EXPECT_EQ(plans(17, 512, 2048, right, "f16").size(), 1u) << right;
    EXPECT_TRUE(plans(33, 2048, 512, right).empty()) << right;
    EXPECT_TRUE(plans(32, 4096, 512, right).empty()) << right;
    EXPECT_TRUE(plans(32, 2048, 2176, right).empty()) << right;
  }
  EXPECT_TRUE(plans(32, 512, 516).empty()) << "rows are no whole vectors";
}

// Blocks are on as many multiprocessors as there may be: more warps share a sum or there are none.
TEST_F(SkinnyPlans, MoreThreadsShareLongSums) {
  auto threadsOf = [&](int64_t m, int64_t n, int64_t k) { return plans(m, n, k).at(0).threads; };
  EXPECT_EQ(threadsOf(16, 2048, 512), 256u) << "eight warps have two steps each";
  EXPECT_EQ(threadsOf(16, 2048, 4096), 512u);
  EXPECT_EQ(threadsOf(32, 2048, 2048), 256u) << "of more rows there is more to add";
  EXPECT_EQ(threadsOf(16, 8192, 4096), 256u) << "there are blocks enough";
}

// Rows of bytes, four at once where blocks are enough.
TEST_F(SkinnyPlans, ShortSumsOfBytesHaveMoreBlocks) {
  auto positionsOf = [&](int64_t k) {
    const Plan plan = plans(9472, 16, k, "nk", "i8", "i32").at(0);
    return llvm::find_if(plan.choices, [](const auto &choice) { return choice.first == "positions"; })->second;
  };
  EXPECT_EQ(positionsOf(2048), 4);
  EXPECT_EQ(positionsOf(64), 2) << "37 blocks of 256 rows";
}

} // namespace
} // namespace tenon::compiler::codegen
