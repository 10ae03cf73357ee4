// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/operands/shifted_lines.h"

#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_roles.h"
#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"
#include "tests/unit/compiler/codegen/contraction/products.h"

namespace tenon::compiler::codegen {
namespace {

class ShiftedLinesTest : public ProductTest {
protected:
  bool mayBring(const std::string &left, const std::string &right, const std::string &element,
                const std::string &total = "f32") {
    const KernelFunction &kernel = read(left, right, {{'m', "70"}, {'n', "131"}, {'k', "?"}}, element, total);
    return ShiftedLines::mayBring(*Product::of(kernel, *shape_));
  }
};

TEST_F(ShiftedLinesTest, OperandsLieInTilesAsInMemory) {
  for (const char *left : {"mk", "km"})
    for (const char *right : {"nk", "kn"}) {
      EXPECT_TRUE(mayBring(left, right, "bf16"));
      EXPECT_TRUE(mayBring(left, right, "f16"));
      // Bytes that lie across are turned on their way.
      EXPECT_EQ(mayBring(left, right, "i8", "i32"), left == std::string("mk") && right == std::string("nk"));
    }
}

TEST_F(ShiftedLinesTest, ExactProductsHaveNoLines) {
  EXPECT_FALSE(mayBring("mk", "nk", "f32"));
  EXPECT_FALSE(mayBring("mk", "nk", "f64", "f64"));
}

TEST_F(ShiftedLinesTest, WhatLiesBesideThemFitsBehindTheStages) {
  for (const WarpgroupTile &tile : warpgroupTiles()) {
    const auto rows = uint32_t(tile.rows), columns = uint32_t(tile.columns);
    const uint32_t stages = stagesBesideLines(rows, columns);
    // Results of one tile are staged while lines of the next one arrive.
    EXPECT_LE(stages * stageBytesOf(rows, columns) + ShiftedLines::bytesOf(rows + columns), partsAt(rows, columns));
    EXPECT_LE(stagesOf(rows, columns) * stageBytesOf(rows, columns), partsAt(rows, columns));
    EXPECT_LE(partsAt(rows, columns), kOperandBytes);
    EXPECT_EQ(mayShiftLines(rows, columns), columns + rows <= 256) << rows << " x " << columns;
  }
}

} // namespace
} // namespace tenon::compiler::codegen
