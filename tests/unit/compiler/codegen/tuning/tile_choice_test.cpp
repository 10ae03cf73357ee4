// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/tuning/tile_choice.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

namespace tenon::compiler::codegen {
namespace {

TEST(TileChoice, IsReadInTheOrderOfPeople) {
  mlir::MLIRContext context;
  const TileChoice choice{"wgmma", {{"rows", 128}, {"columns", 256}, {"blocks", 2}}};
  const TileChoice read = TileChoice::of(choice.attribute(&context));
  EXPECT_EQ(read.text(), "{by = \"wgmma\", rows = 128, columns = 256, blocks = 2}");
  EXPECT_TRUE(read == choice);
}

TEST(TileChoice, IsTheSameInAnyOrderAndWithTheOneBlockSaid) {
  const TileChoice choice{"wgmma", {{"rows", 128}, {"columns", 256}}};
  EXPECT_TRUE((choice == TileChoice{"wgmma", {{"columns", 256}, {"blocks", 1}, {"rows", 128}}}));
  EXPECT_FALSE((choice == TileChoice{"wgmma", {{"columns", 256}, {"blocks", 2}, {"rows", 128}}}));
  EXPECT_FALSE((choice == TileChoice{"mma.sync", {{"rows", 128}, {"columns", 256}}}));
  EXPECT_FALSE((choice == TileChoice{"wgmma", {{"rows", 128}}}));
}

TEST(TileChoice, SaysNothingOfWhatItDoesNotKnow) {
  const TileChoice choice{"wgmma", {{"rows", 128}}};
  EXPECT_EQ(choice.number("rows"), 128);
  EXPECT_EQ(choice.number("blocks"), 0);
}

} // namespace
} // namespace tenon::compiler::codegen
