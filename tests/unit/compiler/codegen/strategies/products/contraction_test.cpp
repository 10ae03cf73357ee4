// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/contraction.h"
#include "compiler/codegen/strategies/products/plans/shared_sums.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "compiler/codegen/strategies/strategies.h"

#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"
#include "tests/unit/compiler/codegen/contraction/products.h"

namespace tenon::compiler::codegen {
namespace {

class ContractionPlans : public ProductTest {
protected:
  std::vector<Plan> plans(int64_t m, int64_t n, int64_t k, const std::string &element = "bf16",
                          const std::string &total = "f32", const std::string &right = "nk") {
    const KernelFunction &kernel = read(
        "mk", right, {{'m', std::to_string(m)}, {'n', std::to_string(n)}, {'k', std::to_string(k)}}, element, total);
    return Contraction().plans(kernel, *shape_);
  }
  static int64_t choice(const Plan &plan, llvm::StringRef name) {
    for (auto [each, value] : plan.choices)
      if (each == name)
        return value;
    ADD_FAILURE() << "no choice " << name.str();
    return -1;
  }
  std::pair<int64_t, int64_t> warpgroupTile(int64_t m, int64_t n, int64_t k, const std::string &right = "nk") {
    const std::vector<Plan> found = plans(m, n, k, "bf16", "f32", right);
    EXPECT_EQ(found.size(), 1u);
    return {choice(found[0], "warpgroup_rows"), choice(found[0], "warpgroup_columns")};
  }
};

TEST_F(ContractionPlans, ManyTilesAreWide) {
  EXPECT_EQ(warpgroupTile(4096, 4096, 4096), std::pair(128l, 256l));
  EXPECT_EQ(warpgroupTile(4096, 28672, 4096), std::pair(128l, 256l));
}

TEST_F(ContractionPlans, NoRoundOfBlocksIsLeftPartEmpty) {
  // 384 tiles of 128 x 128 are three rounds of 132 blocks, 256 of 128 x 192 are two.
  EXPECT_EQ(warpgroupTile(2048, 3072, 1024), std::pair(128l, 192l));
  // One round of 128 blocks either way.
  EXPECT_EQ(warpgroupTile(256, 4096, 4096), std::pair(64l, 128l));
}

TEST_F(ContractionPlans, OfFewRowsBlocksShareThemWhereTheyAreNotVeryFew) {
  EXPECT_EQ(choice(plans(17, 28672, 4096).at(0), "warpgroup_cluster"), 1);
  EXPECT_EQ(choice(plans(64, 28672, 4096).at(0), "warpgroup_cluster"), 4);
  // All tiles of 64 columns run at once.
  EXPECT_EQ(warpgroupTile(17, 4096, 4096), std::pair(64l, 64l));
}

TEST_F(ContractionPlans, FewRowsAreNotDividedBetweenConsumers) {
  EXPECT_EQ(warpgroupTile(64, 28672, 4096).first, 64);
  EXPECT_NE(warpgroupTile(64, 28672, 4096, "kn").second, 192) << "a block of columns has two readers";
}

TEST_F(ContractionPlans, TilesOfHopperFitItsSharedMemory) {
  for (int64_t m : {17, 64, 100, 512, 3000})
    for (int64_t n : {64, 500, 2048, 20000}) {
      const Plan plan = plans(m, n, 1024).at(0);
      const int64_t rows = choice(plan, "warpgroup_rows"), columns = choice(plan, "warpgroup_columns");
      if (rows == 0)
        continue;
      EXPECT_EQ(plan.dynamicSharedBytes, warpgroupSharedBytes(rows, columns));
      EXPECT_LE(plan.dynamicSharedBytes, 227u << 10);
      EXPECT_EQ(plan.tensorMaps.size(), 2u);
      for (auto [name, value] : plan.choices)
        EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
    }
}

// What is not known is a dimension of the image, or of both: tiles are chosen for ranges of it.
TEST_F(ContractionPlans, OfAnUnknownNumberOfRowsEachRangeHasItsTiles) {
  for (bool areRows : {true, false}) {
    const KernelFunction &kernel =
        read("mk", "nk", {{'m', areRows ? "?" : "1024"}, {'n', areRows ? "1024" : "?"}, {'k', "512"}}, "bf16", "f32");
    mlir::func::FuncOp(kernel.function)->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(&context_));
    const std::vector<Plan> found = Contraction().plans(kernel, *shape_);
    ASSERT_GE(found.size(), 2u);
    for (int64_t size : {0, 1, 512, 513, 2048, 2049, 8192, 8193, 1 << 20}) {
      int64_t taken = 0;
      for (const Plan &plan : found)
        taken += plan.guards.front().holdsFor(size);
      EXPECT_EQ(taken, 1) << size;
    }
    EXPECT_EQ(choice(found.front(), "warpgroup_rows"), 64) << "few tiles: small ones";
    EXPECT_GE(choice(found.back(), "warpgroup_rows") * choice(found.back(), "warpgroup_columns"), 128 * 128);
    for (size_t i = 1; i < found.size(); ++i)
      EXPECT_NE(found[i - 1].choices, found[i].choices) << "one kernel for both";
  }
}

TEST_F(ContractionPlans, PairsShareWhatMeetsTwoLinesOrIsReadForLong) {
  EXPECT_EQ(choice(plans(1000, 3000, 7000).at(0), "warpgroup_cluster"), 2); // rows of 14,000 bytes
  EXPECT_EQ(choice(plans(8192, 8192, 8192).at(0), "warpgroup_cluster"), 2);
  EXPECT_EQ(choice(plans(1024, 4096, 4096).at(0), "warpgroup_cluster"), 1);
  EXPECT_EQ(choice(plans(200, 200, 200).at(0), "warpgroup_cluster"), 1);
  EXPECT_EQ(choice(plans(64, 30000, 7000).at(0), "warpgroup_cluster"), 1) << "one row of tiles";
}

TEST_F(ContractionPlans, ExactProductsHaveTheTileThatIsDoneFirst) {
  const Plan large = plans(4096, 4096, 4096, "f32").at(0), part = plans(2048, 3072, 1024, "f32").at(0),
             small = plans(512, 512, 512, "f32").at(0);
  EXPECT_EQ(choice(large, "columns"), 128);
  EXPECT_EQ(choice(part, "rows"), 128);
  EXPECT_EQ(choice(part, "columns"), 64);
  EXPECT_EQ(choice(small, "rows"), 64);
  EXPECT_EQ(choice(large, "warpgroup_rows"), 0);
  EXPECT_EQ(large.threads, 128u);
}

TEST_F(ContractionPlans, WhatNoTargetHasInstructionsForIsWrittenOnce) {
  auto isForAny = [&](const std::string &element, const abi::TargetArch &target, int64_t deep = 1) {
    const std::string total = element == "f64" ? "f64" : "f32";
    KernelFunction kernel = read("mk", "nk", {{'m', "256"}, {'n', "512"}, {'k', "768"}}, element, total);
    mlir::Builder b(kernel.function.getContext());
    kernel.strategy = b.getDictionaryAttr(b.getNamedAttr(kDeep, b.getI64IntegerAttr(deep)));
    return isWrittenForAny(kernel, target);
  };
  constexpr abi::TargetArch turing{75}, ampere{80};
  EXPECT_TRUE(isForAny("f32", turing) && isForAny("f32", ampere) && isForAny("f32", kHopper));
  EXPECT_FALSE(isForAny("f32", kHopper, 2)) << "blocks of a cluster share a sum";
  EXPECT_TRUE(isForAny("bf16", turing));
  EXPECT_FALSE(isForAny("bf16", ampere) || isForAny("f16", turing) || isForAny("bf16", kHopper));
  EXPECT_TRUE(isForAny("f64", turing));
  EXPECT_FALSE(isForAny("f64", ampere));
}

TEST_F(ContractionPlans, DoublesHaveFourWarpsAndTilesOfTheirOwn) {
  const Plan large = plans(4096, 4096, 4096, "f64", "f64").at(0), small = plans(512, 512, 128, "f64", "f64").at(0);
  EXPECT_EQ(std::pair(choice(large, "rows"), choice(large, "columns")), std::pair(128l, 64l));
  EXPECT_EQ(std::pair(choice(small, "rows"), choice(small, "columns")), std::pair(64l, 64l));
  for (const Plan &plan : {large, small}) {
    EXPECT_EQ(plan.threads, 128u);
    EXPECT_EQ(choice(plan, "warpgroup_rows"), 0);
  }
  // Other sums of eight bytes have the registers of a small tile.
  EXPECT_EQ(choice(plans(4096, 4096, 4096, "i64", "i64").at(0), "rows"), 64);
  const KernelFunction &unknown = read("mk", "nk", {{'m', "?"}, {'n', "?"}, {'k', "?"}}, "f64", "f64");
  const std::vector<Plan> both = Contraction().plans(unknown, *shape_);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(std::pair(choice(both[1], "rows"), choice(both[1], "columns")), std::pair(128l, 64l));
  EXPECT_EQ(both[0].guards[0].most, both[1].guards[0].above);
}

TEST_F(ContractionPlans, BytesTakeWarpgroupsWhereMapsBringThem) {
  EXPECT_EQ(choice(plans(1024, 1024, 1024, "i8", "i32").at(0), "warpgroup_columns"), 128);
  EXPECT_EQ(choice(plans(1024, 1024, 1024, "i8", "i32", "kn").at(0), "warpgroup_rows"), 0);
}

TEST_F(ContractionPlans, UnknownSizesHaveASmallAndALargeTile) {
  read("mk", "nk", {{'m', "?"}, {'n', "?"}, {'k', "?"}});
  const std::vector<Plan> found = Contraction().plans(*kernel_, *shape_);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(choice(found[0], "rows"), 64);
  EXPECT_EQ(choice(found[1], "warpgroup_columns"), 128);
}

TEST_F(ContractionPlans, F8ArePlannedAsInt8) {
  const Plan bytes = plans(4096, 4096, 4096, "i8", "i32").at(0), f8 = plans(4096, 4096, 4096, "f8E4M3FN f8E5M2").at(0);
  EXPECT_EQ(choice(f8, "warpgroup_columns"), choice(bytes, "warpgroup_columns"));
  ASSERT_EQ(f8.tensorMaps.size(), 2u);
  EXPECT_EQ(f8.tensorMaps, bytes.tensorMaps);
}

// What can be chosen for a target is what a plan with it says of that target, and a kernel can be written with it.
TEST_F(ContractionPlans, EachChoiceIsTaken) {
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  for (const char *element : {"f16", "bf16", "f32", "f8E4M3FN"})
    for (const char *right : {"nk", "kn"})
      for (const char *rows : {"8", "64", "600", "?"}) {
        const KernelFunction &kernel = read("mk", right, {{'m', rows}, {'n', "512"}, {'k', "1024"}}, element);
        for (abi::TargetArch target : {abi::TargetArch{75}, abi::TargetArch{80}, hopper})
          for (const char *name : {"skinny", "contraction"}) {
            const Strategy &strategy = *strategyNamed(name);
            for (const TileChoice &choice : strategy.choices(kernel, *shape_, target)) {
              const std::string what = choice.text() + " of " + element + " " + right + " " + rows;
              const std::vector<Plan> plans = strategy.plansWith(kernel, *shape_, {{target, choice}});
              ASSERT_FALSE(plans.empty()) << what;
              for (const Plan &plan : plans) {
                if (plan.choice(kClearsFlags) == 0) { // else it multiplies nothing
                  const std::optional<TileChoice> found = strategy.choiceOf(kernel, *shape_, plan, target);
                  ASSERT_TRUE(found) << what;
                  EXPECT_TRUE(*found == choice) << what << ", but " << found->text();
                }
                EXPECT_TRUE(strategy.takes("threads", plan.threads)) << what;
                for (auto [each, value] : plan.choices)
                  EXPECT_TRUE(strategy.takes(each, value)) << what << ": " << each.str() << " " << value;
              }
            }
          }
      }
}

TEST_F(ContractionPlans, WhatTheModelChoosesCanBeChosen) {
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  for (const char *element : {"f16", "f32", "f64"})
    for (const char *rows : {"64", "600", "4096"}) {
      const std::string total = element == std::string("f64") ? "f64" : "f32";
      const KernelFunction &kernel = read("mk", "nk", {{'m', rows}, {'n', "4096"}, {'k', "1024"}}, element, total);
      const Contraction contraction;
      const std::vector<Plan> plans = contraction.plans(kernel, *shape_);
      ASSERT_EQ(plans.size(), 1u);
      for (abi::TargetArch target : {abi::TargetArch{75}, abi::TargetArch{80}, hopper}) {
        const std::optional<TileChoice> chosen = contraction.choiceOf(kernel, *shape_, plans[0], target);
        ASSERT_TRUE(chosen);
        EXPECT_TRUE(llvm::is_contained(contraction.choices(kernel, *shape_, target), *chosen)) << chosen->text();
      }
    }
}

TEST_F(ContractionPlans, OneLaunchHasWhatIsChosenForEachTarget) {
  const KernelFunction &kernel = read("mk", "nk", {{'m', "1024"}, {'n', "1024"}, {'k', "1024"}});
  const abi::TargetArch hopper{90, abi::ArchSuffix::A}, ampere{80};
  const TileChoice wide{kByWarpgroups.str(), {{"rows", 128}, {"columns", 256}, {"blocks", 2}}},
      small{kByWarps.str(), {{"rows", 64}, {"columns", 64}}};
  const Contraction contraction;
  const std::vector<Plan> plans = contraction.plansWith(kernel, *shape_, {{hopper, wide}, {ampere, small}});
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_TRUE(*contraction.choiceOf(kernel, *shape_, plans[0], hopper) == wide);
  EXPECT_TRUE(*contraction.choiceOf(kernel, *shape_, plans[0], ampere) == small);
  EXPECT_EQ(plans[0].dynamicSharedBytes, warpgroupSharedBytes(128, 256));
}

} // namespace
} // namespace tenon::compiler::codegen
