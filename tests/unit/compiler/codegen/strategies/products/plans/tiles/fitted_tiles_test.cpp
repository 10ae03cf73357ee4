// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/fitted_tiles.h"

#include "abi/arch_table.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "compiler/codegen/strategies/products/skinny.h"
#include "tests/unit/compiler/codegen/strategies/products/plans/contraction_plans_testing.h"

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors;

class FittedTilesTest : public ContractionPlansTest {
protected:
  /// Tiles of the only plan, and the blocks that share each.
  struct Blocks {
    int64_t tiles, deep, launched;
  };
  Blocks blocksOf(int64_t m, int64_t n, int64_t k, bool isForHopper = true) {
    const std::vector<Plan> found = plans(m, n, k, isForHopper);
    EXPECT_EQ(found.size(), 1u);
    const Plan &plan = found.front();
    for (auto [name, value] : plan.choices)
      EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
    const WarpgroupTile tile{plan.choice("warpgroup_rows"), plan.choice("warpgroup_columns"), 0};
    int64_t launched = 1;
    for (const GridFactor &factor : plan.grid) {
      int64_t size = 1;
      for (const Extent &extent : factor.extents)
        size *= extent.size;
      launched *= (size + factor.perBlock - 1) / factor.perBlock;
    }
    return {*warpgroupTilesOf(*shape_, *Product::of(*kernel_, *shape_), tile), std::max<int64_t>(1, plan.choice(kDeep)),
            launched};
  }
};

TEST_F(FittedTilesTest, OneRoundOfBlocksReadsALargeMatrix) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{64, 4096, 4096},
                         {64, 4096, 14336},
                         {17, 5120, 5120},
                         {40, 4232, 8192},
                         {130, 6144, 4096},
                         {70, 6144, 4096},
                         {64, 1024, 4096}}) {
    const Blocks blocks = blocksOf(m, n, k);
    EXPECT_LE(blocks.tiles * blocks.deep, kMultiprocessors) << m << " x " << n << " x " << k;
    EXPECT_GE(blocks.tiles * blocks.deep, 76) << m << " x " << n << " x " << k;
    EXPECT_GE(blocks.launched, blocks.tiles * blocks.deep) << m << " x " << n << " x " << k;
  }
}

TEST_F(FittedTilesTest, TallTilesHaveRowsThatBeginInsideOfASector) {
  for (auto [m, n, k, deep] :
       {std::array<int64_t, 4>{141, 9408, 5416, 2}, {188, 8016, 5048, 2}, {180, 5120, 5000, 3}}) {
    const Blocks blocks = blocksOf(m, n, k);
    EXPECT_EQ(blocks.deep, deep) << m << " x " << n << " x " << k;
    EXPECT_EQ(plans(m, n, k).front().choice("warpgroup_rows"), 256) << m << " x " << n << " x " << k;
    EXPECT_LE(blocks.tiles * blocks.deep, kMultiprocessors) << m << " x " << n << " x " << k;
  }
  EXPECT_NE(plans(180, 5120, 5120).front().choice("warpgroup_rows"), 256) << "whole lines";
  EXPECT_NE(plans(300, 5120, 5000).front().choice("warpgroup_rows"), 256) << "it does not have all rows";
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  const std::vector<Plan> found = plans(141, 9408, 5416);
  const std::optional<TileChoice> chosen = Contraction().choiceOf(*kernel_, *shape_, found.at(0), hopper);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(llvm::is_contained(Contraction().choices(*kernel_, *shape_, hopper), *chosen)) << chosen->text();
}

TEST_F(FittedTilesTest, SeveralTilesBelowEachOtherAreOneRound) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{384, 6144, 4096}, {209, 9088, 3136}, {512, 5120, 5120}}) {
    const Blocks blocks = blocksOf(m, n, k);
    EXPECT_NE(plans(m, n, k).front().choice("warpgroup_columns") % 64, 0) << m << " x " << n << " x " << k;
    EXPECT_LE(blocks.tiles, kMultiprocessors) << m << " x " << n << " x " << k;
    EXPECT_GE(blocks.tiles, 120) << m << " x " << n << " x " << k;
  }
  EXPECT_EQ(plans(520, 5120, 5120).front().choice("warpgroup_columns") % 64, 0) << "more rows were not measured";
}

TEST_F(FittedTilesTest, OtherTargetsKeepTheirTiles) {
  const std::vector<Plan> found = plans(130, 6144, 4096, /*isForHopper=*/false);
  EXPECT_EQ(found.at(0).choice("warpgroup_columns") % 64, 0);
  EXPECT_EQ(found.at(0).choice(kDeep), 0);
}

TEST_F(FittedTilesTest, WhatIsChosenIsOneOfTheChoices) {
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  const Contraction contraction;
  for (auto [m, n, k] : {std::array<int64_t, 3>{64, 4096, 4096}, {130, 6144, 4096}, {33, 5120, 5120}}) {
    const std::vector<Plan> found = plans(m, n, k);
    const std::optional<TileChoice> chosen = contraction.choiceOf(*kernel_, *shape_, found.at(0), hopper);
    ASSERT_TRUE(chosen);
    EXPECT_TRUE(llvm::is_contained(contraction.choices(*kernel_, *shape_, hopper), *chosen)) << chosen->text();
    const std::vector<Plan> given = contraction.plansWith(*kernel_, *shape_, {{hopper, *chosen}});
    ASSERT_EQ(given.size(), 1u);
    EXPECT_EQ(given[0].choice("warpgroup_columns"), found[0].choice("warpgroup_columns"));
    EXPECT_EQ(given[0].choice(kDeep), found[0].choice(kDeep));
  }
}

TEST_F(FittedTilesTest, TilesHaveFewRowsWhereTheMatrixIsLarge) {
  auto areLeft = [&](int64_t m, int64_t n, int64_t k, bool isForHopper = true) {
    plans(m, n, k, isForHopper);
    return Skinny().plans(*kernel_, *shape_).empty();
  };
  EXPECT_TRUE(areLeft(1, 28672, 4096));
  EXPECT_FALSE(areLeft(1, 28672, 4096, /*isForHopper=*/false));
  EXPECT_FALSE(areLeft(1, 4096, 4096)) << "the second-level cache holds it";
  EXPECT_TRUE(areLeft(16, 6144, 4096));
  EXPECT_FALSE(areLeft(8, 6144, 4096));
  EXPECT_FALSE(areLeft(16, 1024, 4096));
  EXPECT_FALSE(areLeft(1, 64, 1 << 20)) << "of few columns there are few tiles";
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  plans(1, 28672, 4096);
  EXPECT_FALSE(Skinny().choices(*kernel_, *shape_, hopper).empty()) << "it may be pinned";
}

} // namespace
} // namespace tenon::compiler::codegen
