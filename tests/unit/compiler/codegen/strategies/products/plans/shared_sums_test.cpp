// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/shared_sums.h"

#include "tests/unit/compiler/codegen/strategies/products/plans/contraction_plans_testing.h"

namespace tenon::compiler::codegen {
namespace {

class SharedSumsTest : public ContractionPlansTest {};

TEST_F(SharedSumsTest, ARoundThatIsHalfEmptyIsTakenApart) {
  // 320 tiles: two rounds of 132, and 56, whose halves are computed at once.
  const std::vector<Plan> found = plans(1024, 10240, 8192);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].choice(kClearsFlags), 1);
  EXPECT_EQ(found[1].choice(kClearsFlags), 0);
  EXPECT_EQ(found[1].choice(kParts), 2);
  ASSERT_EQ(found[0].scratch.size(), 2u);
  EXPECT_EQ(found[0].scratch[0].extents.front().size, 56 * 128 * 256);
  EXPECT_EQ(found[0].scratch[1].extents.front().size, 1 + 56 * 2) << "a ticket, and a flag for each consumer";
  EXPECT_TRUE(found[0].tensorMaps.empty());
  EXPECT_FALSE(found[1].tensorMaps.empty());
  for (const Plan &plan : found)
    for (auto [name, value] : plan.choices)
      EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
}

TEST_F(SharedSumsTest, ShortSumsAndFullRoundsAreWhole) {
  EXPECT_EQ(plans(1024, 4096, 4096).size(), 1u); // 128 tiles
  EXPECT_EQ(plans(1024, 10240, 256).size(), 1u);
}

TEST_F(SharedSumsTest, OtherTargetsHaveNoPartOfIt) {
  EXPECT_EQ(plans(1024, 10240, 8192, /*isForHopper=*/false).size(), 1u);
}

TEST_F(SharedSumsTest, WhereItIsPinnedOtherTargetsKeepABlockForEachTile) {
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  const Contraction contraction;
  for (bool isForHopper : {false, true}) {
    plans(1024, 1024, 1024, isForHopper);
    TileChoice whole{kByWarpgroups.str(), {{"rows", 128}, {"columns", 256}}}, shared = whole;
    shared.numbers.emplace_back(kParts.str(), 2);
    const std::vector<Plan> one = contraction.plansWith(*kernel_, *shape_, {{hopper, whole}}),
                            two = contraction.plansWith(*kernel_, *shape_, {{hopper, shared}});
    ASSERT_EQ(one.size(), 1u);
    ASSERT_EQ(two.size(), 2u);
    EXPECT_EQ(two[0].choice(kClearsFlags), 1);
    EXPECT_EQ(two[1].grid.size(), isForHopper ? 1u : one[0].grid.size());
    EXPECT_GT(one[0].grid.size(), 1u);
  }
}

TEST_F(SharedSumsTest, NoChoiceOfItIsNeeded) {
  plans(1024, 10240, 8192);
  const std::optional<Plan> plan = Contraction().plan(*kernel_, *shape_);
  ASSERT_TRUE(plan);
  for (auto [name, value] : plan->choices)
    EXPECT_TRUE(name != kParts && name != kClearsFlags) << name.str();
}

TEST_F(SharedSumsTest, WhatIsChosenIsOneOfTheChoices) {
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  const std::vector<Plan> found = plans(1024, 10240, 8192);
  const Contraction contraction;
  EXPECT_FALSE(contraction.choiceOf(*kernel_, *shape_, found[0], hopper));
  const std::optional<TileChoice> chosen = contraction.choiceOf(*kernel_, *shape_, found[1], hopper);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->text(), "{by = \"wgmma\", rows = 128, columns = 256, parts = 2}");
  EXPECT_TRUE(llvm::is_contained(contraction.choices(*kernel_, *shape_, hopper), *chosen));
  const std::vector<Plan> given = contraction.plansWith(*kernel_, *shape_, {{hopper, *chosen}});
  ASSERT_EQ(given.size(), 2u);
  EXPECT_EQ(given[1].choice(kParts), 2);
}

} // namespace
} // namespace tenon::compiler::codegen
