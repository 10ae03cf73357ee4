// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/place_tiles.h"

#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "tests/unit/compiler/codegen/strategies/products/plans/contraction_plans_testing.h"

namespace tenon::compiler::codegen {
namespace {

class PlaceTilesTest : public ContractionPlansTest {
protected:
  /// Rows and columns of the only plan's tile.
  std::pair<int64_t, int64_t> tileOf(const std::string &left, const std::string &right, const Sizes &sizes) {
    const KernelFunction &kernel = read(left, right, sizes);
    mlir::func::FuncOp function = kernel.function;
    function->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(&context_));
    const std::vector<Plan> plans = Contraction().plans(kernel, *shape_);
    EXPECT_EQ(plans.size(), 1u);
    for (auto [name, value] : plans.front().choices)
      EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
    return {plans.front().choice("warpgroup_rows"), plans.front().choice("warpgroup_columns")};
  }
  static bool isPlaceTile(std::pair<int64_t, int64_t> tile) {
    return llvm::any_of(placeTiles(), [&](const WarpgroupTile &each) {
      return each.rows == tile.first && each.columns == tile.second;
    });
  }
};

TEST_F(PlaceTilesTest, ColumnsDivideThePlacesOfAnImage) {
  for (const char *left : {"mk", "km"})
    EXPECT_TRUE(isPlaceTile(tileOf(left, "bkn", {{'b', "32"}, {'m', "256"}, {'n', "784"}, {'k', "512"}}))) << left;
}

TEST_F(PlaceTilesTest, OtherProductsHaveNone) {
  EXPECT_FALSE(isPlaceTile(tileOf("mk", "kn", {{'m', "256"}, {'n', "25088"}, {'k', "512"}}))) << "one matrix";
  EXPECT_FALSE(isPlaceTile(tileOf("mk", "bnk", {{'b', "32"}, {'m', "256"}, {'n', "784"}, {'k', "512"}}))) << "along";
  EXPECT_FALSE(isPlaceTile(tileOf("mk", "bkn", {{'b', "32"}, {'m', "256"}, {'n', "196"}, {'k', "512"}}))) << "no boxes";
}

TEST_F(PlaceTilesTest, AreTilesOfWarpgroups) {
  read("mk", "kn", {{'m', "256"}, {'n', "784"}, {'k', "512"}});
  const Operand across = Product::of(*kernel_, *shape_)->right;
  for (const WarpgroupTile &tile : placeTiles()) {
    EXPECT_TRUE(isWarpgroupTile(tile.rows, tile.columns, across)) << tile.rows << " x " << tile.columns;
    EXPECT_EQ(columnsOfStage(across, uint32_t(tile.columns)) % 64, 0u);
    EXPECT_LE(warpgroupSharedBytes(uint32_t(tile.rows), columnsOfStage(across, uint32_t(tile.columns))), 227u << 10);
  }
  EXPECT_FALSE(isWarpgroupTile(128, 72, across)) << "no multiple of 16";
  EXPECT_FALSE(isWarpgroupTile(256, 176, across));
  EXPECT_FALSE(isWarpgroupTile(64, 80, across)) << "two consumers have half of the columns each";
}

} // namespace
} // namespace tenon::compiler::codegen
