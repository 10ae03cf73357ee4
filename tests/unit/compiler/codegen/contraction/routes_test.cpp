// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/routes.h"

#include "compiler/dispatch/analysis/products/routes.h"
#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

using RoutesPlaces = KernelWriterTest;

TEST_F(RoutesPlaces, PartsOfTheTableFollowEachOther) {
  KernelBuilder &k = begin();
  Routes routes(k, parameter(0), k.number(300), 5);
  EXPECT_EQ(constant(Routes::placeOfCount(k, 64)), 0);
  EXPECT_EQ(constant(Routes::placeOfCount(k, 128)), 1);
  EXPECT_EQ(constant(Routes::placeOfCount(k, 256)), 2);
  EXPECT_EQ(constant(routes.placeOfTile(k.number(0), 64)), 4);
  EXPECT_EQ(constant(routes.placeOfTile(k.number(2), 64)), 12);
  EXPECT_EQ(constant(routes.placeOfTile(k.number(0), 128)), 4 * (1 + 9));
  EXPECT_EQ(constant(routes.placeOfTile(k.number(0), 256)), 4 * (1 + 9 + 7));
  EXPECT_EQ(constant(routes.placeOfRow(k.number(299))), 4 * (1 + 9 + 7 + 6) + 299);
  EXPECT_GE(4 * dispatch::routeLines(300, 5), 4 * (1 + 9 + 7 + 6) + 300);
}

} // namespace
} // namespace tenon::compiler::codegen
