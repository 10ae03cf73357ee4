// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/unknown_sizes.h"

#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/strategies/products/plans/contraction_plans.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "tests/unit/compiler/codegen/strategies/products/plans/contraction_plans_testing.h"

namespace tenon::compiler::codegen {
namespace {

class UnknownSizesTest : public ContractionPlansTest {
protected:
  std::vector<SizedKernel> kernelsOf(const Sizes &sizes, const std::string &element = "bf16",
                                     const std::string &total = "f32", const std::string &left = "mk",
                                     const std::string &right = "nk") {
    const std::string batch = sizes.count('b') ? "b" : "";
    const Product product = *Product::of(read(batch + left, batch + right, sizes, element, total), *shape_);
    return kernelsOfUnknownSizes(*shape_, product.warpElement() ? product.forWarpgroups() : product);
  }
  /// The only one that runs for such lengths of its guards.
  static const SizedKernel &runningFor(const std::vector<SizedKernel> &kernels, int64_t length, int64_t reduced = 0) {
    const SizedKernel *found = nullptr;
    for (const SizedKernel &kernel : kernels) {
      const bool runs = llvm::all_of(llvm::enumerate(kernel.guards), [&](const auto &guard) {
        return guard.value().holdsFor(guard.index() == 0 ? length : reduced);
      });
      EXPECT_FALSE(runs && found) << "two for " << length;
      found = runs ? &kernel : found;
    }
    EXPECT_TRUE(found) << "none for " << length;
    return found ? *found : kernels.front();
  }
};

TEST_F(UnknownSizesTest, KnownSizesHaveNone) {
  EXPECT_TRUE(kernelsOf({{'m', "64"}, {'n', "4096"}, {'k', "4096"}}).empty());
}

TEST_F(UnknownSizesTest, AFewKernelsAreForAllRows) {
  for (const char *element : {"bf16", "f32", "i8"})
    for (const Sizes &sizes :
         {Sizes{{'m', "?"}, {'n', "4576"}, {'k', "3680"}}, Sizes{{'m', "4576"}, {'n', "?"}, {'k', "3680"}},
          Sizes{{'m', "256"}, {'n', "272"}, {'k', "?"}}, Sizes{{'b', "?"}, {'m', "256"}, {'n', "272"}, {'k', "1024"}},
          Sizes{{'m', "?"}, {'n', "?"}, {'k', "1024"}}}) {
      const std::vector<SizedKernel> found = kernelsOf(sizes, element, element == std::string("i8") ? "i32" : "f32");
      ASSERT_FALSE(found.empty());
      EXPECT_LE(found.size(), 5u);
      for (int64_t length : {0, 1, 63, 64, 65, 128, 129, 500, 512, 513, 2048, 2049, 4096, 32768, 32769, 1 << 24})
        if (found.size() > 1)
          runningFor(found, length);
    }
}

TEST_F(UnknownSizesTest, SumsOfFewTilesAreTakenApart) {
  const std::vector<SizedKernel> half = kernelsOf({{'m', "?"}, {'n', "1024"}, {'k', "4096"}}),
                                 exact = kernelsOf({{'m', "?"}, {'n', "1024"}, {'k', "4096"}}, "f32"),
                                 doubles = kernelsOf({{'m', "?"}, {'n', "1024"}, {'k', "4096"}}, "f64", "f64");
  for (const std::vector<SizedKernel> *kernels : {&half, &exact, &doubles}) {
    EXPECT_GT(runningFor(*kernels, 40).deep, 1);
    EXPECT_EQ(runningFor(*kernels, 16384).deep, 1);
  }
  EXPECT_EQ(runningFor(half, 40).rows, 64);
  EXPECT_EQ(runningFor(half, 16384).columns, 256);
}

TEST_F(UnknownSizesTest, ClustersAreThoseThatRunAtOnce) {
  const std::vector<SizedKernel> found = kernelsOf({{'m', "?"}, {'n', "1024"}, {'k', "8192"}});
  for (int64_t rows = 64; rows <= 8192; rows += 64) {
    const SizedKernel &kernel = runningFor(found, rows);
    if (kernel.deep == 1)
      continue;
    const auto tiles = int64_t(llvm::divideCeil(uint64_t(rows), uint64_t(kernel.rows)) *
                               llvm::divideCeil(uint64_t(1024), uint64_t(kernel.columns)));
    EXPECT_LE(tiles * kernel.deep, 132) << rows;
  }
}

TEST_F(UnknownSizesTest, NarrowTilesAreForFewRowsAndColumns) {
  const std::vector<SizedKernel> rows = kernelsOf({{'m', "?"}, {'n', "4096"}, {'k', "512"}}, "f32"),
                                 columns = kernelsOf({{'m', "?"}, {'n', "29"}, {'k', "3204"}}, "f32");
  for (int64_t size : {128, 1000, 20000})
    EXPECT_GE(runningFor(rows, size).rows, 64);
  EXPECT_EQ(runningFor(columns, 10616).columns, 32);
}

TEST_F(UnknownSizesTest, ShortSumsOfUnknownLengthStayWhole) {
  const std::vector<SizedKernel> one = kernelsOf({{'m', "102"}, {'n', "672"}, {'k', "?"}});
  EXPECT_EQ(runningFor(one, 64).deep, 1);
  EXPECT_GT(runningFor(one, 8192).deep, 1);
  for (const char *element : {"bf16", "f32", "f64"}) {
    const std::vector<SizedKernel> all =
        kernelsOf({{'m', "?"}, {'n', "?"}, {'k', "?"}}, element, element == std::string("f64") ? "f64" : "f32");
    for (int64_t tiles : {0, 1, 2, 6, 7, 30, 128, 129, 5000}) {
      EXPECT_EQ(runningFor(all, tiles, 0).deep, 1) << tiles;
      EXPECT_EQ(runningFor(all, tiles, 100).deep, 1) << tiles;
      runningFor(all, tiles, 2048);
      runningFor(all, tiles, 2049);
    }
    EXPECT_GT(runningFor(all, 2, 8192).deep, 1);
    EXPECT_EQ(runningFor(all, 5000, 8192).deep, 1);
  }
}

TEST_F(UnknownSizesTest, WhatOneWarpgroupTurnsIsLeftToOthers) {
  EXPECT_TRUE(kernelsOf({{'m', "?"}, {'n', "1024"}, {'k', "1024"}}, "i8", "i32", "mk", "kn").empty());
}

TEST_F(UnknownSizesTest, RowsThatAreNotAlignedAreTakenApartMore) {
  const std::vector<SizedKernel> found =
      kernelsOf({{'m', "?"}, {'n', "3436"}, {'k', "3773"}}, "bf16", "f32", "km", "kn");
  EXPECT_GT(runningFor(found, 71).deep, 1) << "copied by threads";
}

TEST_F(UnknownSizesTest, LinesAreShiftedInTilesOfEnoughStages) {
  const KernelFunction &kernel = read("mk", "nk", {{'m', "?"}, {'n', "1000"}, {'k', "1283"}});
  const Product product = Product::of(kernel, *shape_)->forWarpgroups();
  const std::vector<SizedKernel> found = kernelsOfUnknownSizes(*shape_, product, RowStarts::Split);
  ASSERT_FALSE(found.empty());
  for (const SizedKernel &each : found)
    EXPECT_TRUE(mayShiftLines(uint32_t(each.rows), uint32_t(each.columns))) << each.rows << " x " << each.columns;
}

TEST_F(UnknownSizesTest, OfRowsThatMayBeAlignedOneKernelRunsWhetherTheyAreOrNot) {
  for (const auto &[element, multiple] : {std::pair<std::string, int64_t>("bf16", 8), {"f8E4M3FN", 16}}) {
    const KernelFunction &kernel = read("mk", "nk", {{'m', "500"}, {'n', "1024"}, {'k', "?"}}, element);
    mlir::func::FuncOp(kernel.function)->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(&context_));
    const std::vector<Plan> plans = Contraction().plans(kernel, *shape_);
    for (int64_t length : {0, 1, 7, 8, 16, 64, 4095, 4096, 4104, 65536, 65537}) {
      auto holds = [&](const Guard &guard) {
        return guard.unless.empty()
                   ? guard.holdsFor(length)
                   : !llvm::all_of(guard.unless, [&](const Guard &each) { return each.holdsFor(length); });
      };
      unsigned running = 0;
      for (const Plan &plan : plans)
        if (llvm::all_of(plan.guards, holds)) {
          ++running;
          const bool isAligned = length % multiple == 0;
          EXPECT_EQ(plan.choice(kRowStarts), int64_t(isAligned ? RowStarts::Aligned : RowStarts::Split)) << length;
          EXPECT_EQ(plan.tensorMaps.empty(), !isAligned) << length;
        }
      EXPECT_EQ(running, 1u) << element << " " << length;
    }
  }
}

TEST_F(UnknownSizesTest, PlansHaveABlockForEachPartOfATile) {
  const KernelFunction &kernel = read("mk", "nk", {{'m', "?"}, {'n', "1024"}, {'k', "4096"}});
  EXPECT_EQ(Contraction().plans(kernel, *shape_).size(), 2u) << "for other targets, too";
  mlir::func::FuncOp(kernel.function)->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(&context_));
  const std::vector<Plan> plans = Contraction().plans(kernel, *shape_);
  ASSERT_GE(plans.size(), 2u);
  const int64_t deep = plans.front().choice(kDeep);
  ASSERT_GT(deep, 1);
  ASSERT_EQ(plans.front().grid.size(), 4u);
  EXPECT_EQ(plans.front().grid[1].perBlock, plans.front().choice("warpgroup_rows"));
  EXPECT_EQ(plans.front().grid[2].perBlock, plans.front().choice("warpgroup_columns"));
  EXPECT_EQ(plans.front().grid.back().extents.front().size, deep);
  EXPECT_EQ(plans.front().tensorMaps.size(), 2u);
  for (const Plan &plan : plans)
    for (auto [name, value] : plan.choices)
      EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
}

} // namespace
} // namespace tenon::compiler::codegen
