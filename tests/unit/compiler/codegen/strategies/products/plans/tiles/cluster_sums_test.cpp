// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"

#include "tests/unit/compiler/codegen/strategies/products/plans/contraction_plans_testing.h"

namespace tenon::compiler::codegen {
namespace {

class ClusterSumsTest : public ContractionPlansTest {
protected:
  int64_t mostDeep(int64_t m, int64_t n, int64_t k, const WarpgroupTile &tile) {
    const KernelFunction &kernel =
        read("mk", "nk", {{'m', std::to_string(m)}, {'n', std::to_string(n)}, {'k', std::to_string(k)}});
    return codegen::mostDeep(*shape_, *Product::of(kernel, *shape_), tile);
  }
};

TEST_F(ClusterSumsTest, LongSumsOfFewTilesAreTakenApart) {
  // 12 tiles of 128 x 128, and 128 steps each.
  const std::vector<Plan> found = plans(256, 768, 8192);
  ASSERT_EQ(found.size(), 1u);
  const int64_t deep = found[0].choice(kDeep);
  EXPECT_GE(deep, 2);
  ASSERT_EQ(found[0].grid.size(), 1u);
  const int64_t blocks = found[0].grid[0].extents.front().size;
  EXPECT_EQ(blocks % deep, 0) << "a cluster for each tile";
  EXPECT_GE(blocks, 64);
  EXPECT_LE(blocks, 132);
  EXPECT_FALSE(found[0].tensorMaps.empty());
  for (auto [name, value] : found[0].choices)
    EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
}

TEST_F(ClusterSumsTest, PartsNeedNoDivisor) {
  EXPECT_GE(plans(104, 440, 3544).at(0).choice(kDeep), 2);
}

TEST_F(ClusterSumsTest, ManyTilesAndShortSumsAreWhole) {
  EXPECT_EQ(plans(1024, 4096, 4096).at(0).choice(kDeep), 0);
  EXPECT_EQ(plans(256, 768, 256).at(0).choice(kDeep), 0);
}

TEST_F(ClusterSumsTest, OtherTargetsHaveNoPartOfIt) {
  EXPECT_EQ(plans(256, 768, 8192, /*isForHopper=*/false).at(0).choice(kDeep), 0);
}

TEST_F(ClusterSumsTest, EachBlockHasAMultiprocessorAndSomeSteps) {
  const WarpgroupTile tile{64, 64, 0};
  EXPECT_EQ(mostDeep(64, 64, 8192, tile), kMostDeep);
  EXPECT_EQ(mostDeep(64, 64, 512, tile), 2) << "each has four steps";
  EXPECT_EQ(mostDeep(64, 64 * 66, 8192, tile), 2);
  EXPECT_EQ(mostDeep(64, 64 * 67, 8192, tile), 1);
}

TEST_F(ClusterSumsTest, WhatIsChosenIsOneOfTheChoices) {
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  const std::vector<Plan> found = plans(256, 768, 8192);
  const Contraction contraction;
  const std::optional<TileChoice> chosen = contraction.choiceOf(*kernel_, *shape_, found[0], hopper);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(llvm::is_contained(contraction.choices(*kernel_, *shape_, hopper), *chosen)) << chosen->text();
  const std::vector<Plan> given = contraction.plansWith(*kernel_, *shape_, {{hopper, *chosen}});
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].choices, found[0].choices);
  const std::optional<Plan> plain = contraction.plan(*kernel_, *shape_);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->choice(kDeep), 0) << "no choice of it is needed";
}

TEST_F(ClusterSumsTest, ExactSumsAreTakenApartWhereTilesAreFew) {
  const KernelFunction &kernel = read("mk", "nk", {{'m', "34"}, {'n', "1513"}, {'k', "4455"}}, "f32");
  mlir::func::FuncOp function = kernel.function;
  EXPECT_EQ(Contraction().plans(kernel, *shape_).at(0).choice(kDeep), 0) << "for other targets, too";
  function->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(&context_));
  const std::vector<Plan> found = Contraction().plans(kernel, *shape_);
  ASSERT_EQ(found.size(), 1u);
  const int64_t deep = found[0].choice(kDeep);
  EXPECT_GE(deep, 2);
  EXPECT_EQ(found[0].grid.back().extents.front().size, deep) << "a cluster for each tile";
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  const std::optional<TileChoice> chosen = Contraction().choiceOf(kernel, *shape_, found[0], hopper);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(llvm::is_contained(Contraction().choices(kernel, *shape_, hopper), *chosen)) << chosen->text();
  const std::vector<Plan> given = Contraction().plansWith(kernel, *shape_, {{hopper, *chosen}});
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].choice(kDeep), deep);
  const std::optional<Plan> plain = Contraction().plan(kernel, *shape_);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->choice(kDeep), 0);
  EXPECT_EQ(plain->grid.size() + 1, found[0].grid.size());
}

TEST_F(ClusterSumsTest, SumsOfABlockFitItsMemory) {
  read("mk", "nk", {{'m', "100"}, {'n', "100"}, {'k', "4096"}}, "f64", "f64");
  const Product doubles = *Product::of(*kernel_, *shape_);
  EXPECT_TRUE(canDivide(*shape_, doubles, {64, 64, 3, 0, 0}));
  EXPECT_FALSE(canDivide(*shape_, doubles, {128, 64, 2, 0, 0}));
  read("mk", "nk", {{'m', "100"}, {'n', "100"}, {'k', "?"}}, "f32");
  const Product ofAnyLength = *Product::of(*kernel_, *shape_);
  EXPECT_TRUE(canDivide(*shape_, ofAnyLength, {64, 64, 3, 0, 0}));
  EXPECT_EQ(codegen::mostDeep(*shape_, ofAnyLength, ScalarTile{64, 64, 3, 0, 0}), 1) << "nobody chooses it";
}

} // namespace
} // namespace tenon::compiler::codegen
