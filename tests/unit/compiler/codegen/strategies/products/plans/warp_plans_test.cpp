// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/warp_plans.h"

#include "abi/arch_table.h"
#include "tests/unit/compiler/codegen/strategies/products/plans/contraction_plans_testing.h"

namespace tenon::compiler::codegen {
namespace {

class WarpPlansTest : public ContractionPlansTest {
protected:
  std::vector<Plan> plansFor(abi::TargetArch target, int64_t m, int64_t n, int64_t k,
                             const std::string &element = "bf16", const std::string &left = "mk",
                             const std::string &right = "nk") {
    const KernelFunction &kernel = read(
        left, right, {{'m', std::to_string(m)}, {'n', std::to_string(n)}, {'k', std::to_string(k)}}, element, "f32");
    mlir::func::FuncOp function = kernel.function;
    function->setAttr(dispatch::kWarpDeviceAttr, dispatch::WarpDevice::of(target)->attribute(&context_));
    return Contraction().plans(kernel, *shape_);
  }
  static uint32_t bytesOf(const Plan &plan) {
    const TensorCoreStages stages{uint32_t(plan.choice(kStageBytes)), uint32_t(plan.choice(kStages))};
    return stages.bytes(uint32_t(plan.choice("rows")), uint32_t(plan.choice("columns")));
  }
};

TEST_F(WarpPlansTest, LargeProductsHaveLargeTiles) {
  const Plan plan = plansFor(abi::TargetArch{80}, 4096, 4096, 4096).at(0);
  EXPECT_EQ(plan.choice("rows"), 128);
  EXPECT_EQ(plan.choice("columns"), 256);
  EXPECT_EQ(plan.dynamicSharedBytes, 96u << 10);
  EXPECT_EQ(plan.choice("warpgroup_rows"), 0);
  EXPECT_TRUE(plan.tensorMaps.empty());
  EXPECT_EQ(plansFor(abi::TargetArch{80}, 512, 512, 512).at(0).choice("rows"), 64);
}

// Whatever the sizes: a launch that asks for more fails, and code for one architecture may run on others.
TEST_F(WarpPlansTest, StagesFitTheDevice) {
  for (const abi::Architecture &architecture : abi::architectures()) {
    if (architecture.number < 80)
      continue;
    for (auto [m, n, k] : {std::array<int64_t, 3>{4096, 4096, 4096},
                           {1024, 6144, 4096},
                           {256, 4096, 4096},
                           {64, 6144, 4096},
                           {1000, 3000, 7000},
                           {8192, 8192, 1000},
                           {1536, 1536, 100},
                           {64, 64, 40}})
      for (const char *right : {"nk", "kn"}) {
        const Plan plan = plansFor(abi::TargetArch{architecture.number}, m, n, k, "bf16", "mk", right).at(0);
        const uint32_t bytes = bytesOf(plan);
        for (const abi::Architecture &device : abi::architectures())
          if (device.number >= architecture.number)
            EXPECT_LE(bytes, device.limits.blockSharedBytes) << device.number << ": " << m << " x " << n;
        EXPECT_EQ(plan.dynamicSharedBytes, bytes > abi::kMaxStaticSharedBytes ? bytes : 0);
        for (auto [name, value] : plan.choices)
          EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
      }
  }
}

// Two blocks of 128 x 128 hide what one waits for.
TEST_F(WarpPlansTest, AMultiprocessorHasTwoBlocksOfMediumTiles) {
  for (uint16_t number : {80, 86, 89}) {
    const Plan plan = plansFor(abi::TargetArch{number}, 2048, 3072, 1024).at(0);
    const abi::Architecture &architecture = *abi::findArchitecture(number);
    if (plan.choice("rows") == 128 && plan.choice("columns") == 128)
      EXPECT_LE(2 * (bytesOf(plan) + architecture.reservedSharedBytes()), architecture.limits.sharedBytes) << number;
  }
}

TEST_F(WarpPlansTest, RowsThatBeginBetweenLinesAreReadInLongerSteps) {
  EXPECT_EQ(plansFor(abi::TargetArch{80}, 4096, 4096, 7000).at(0).choice(kStageBytes), 128);
  EXPECT_EQ(plansFor(abi::TargetArch{80}, 4096, 4096, 7040).at(0).choice(kStageBytes), 64);
}

TEST_F(WarpPlansTest, ExactProductsKeepTheirTiles) {
  const KernelFunction &kernel = read("mk", "nk", {{'m', "4096"}, {'n', "4096"}, {'k', "4096"}}, "f32", "f32");
  mlir::func::FuncOp function = kernel.function;
  function->setAttr(dispatch::kWarpDeviceAttr, dispatch::WarpDevice::of(abi::TargetArch{80})->attribute(&context_));
  EXPECT_EQ(Contraction().plans(kernel, *shape_).at(0).choice(kStages), 0) << "exact f32 have no tensor cores";
}

TEST_F(WarpPlansTest, WhatIsChosenIsOneOfTheChoices) {
  const abi::TargetArch ampere{80};
  const Contraction contraction;
  for (auto [m, n, k] : {std::array<int64_t, 3>{64, 4096, 4096}, {130, 6144, 4096}, {4096, 4096, 512}}) {
    const std::vector<Plan> found = plansFor(ampere, m, n, k);
    const std::optional<TileChoice> chosen = contraction.choiceOf(*kernel_, *shape_, found.at(0), ampere);
    ASSERT_TRUE(chosen);
    EXPECT_TRUE(llvm::is_contained(contraction.choices(*kernel_, *shape_, ampere), *chosen)) << chosen->text();
    const std::vector<Plan> given = contraction.plansWith(*kernel_, *shape_, {{ampere, *chosen}});
    ASSERT_EQ(given.size(), 1u);
    EXPECT_EQ(given[0].choices, found[0].choices);
    EXPECT_EQ(given[0].dynamicSharedBytes, found[0].dynamicSharedBytes);
  }
}

} // namespace
} // namespace tenon::compiler::codegen
