// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/origin_table.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

TEST(OriginTable, KnowsAValueByOneNumber) {
  OriginTable table;
  EXPECT_EQ(table.idOf(Origins()), OriginTable::kUnknown);
  EXPECT_EQ(table.idOf(Origins::number()), OriginTable::kNumber);
  const OriginTable::Id p = table.idOf(Origins::of(3));
  EXPECT_EQ(table.idOf(Origins::of(3)), p);
  EXPECT_NE(table.idOf(Origins::of(4)), p);
  EXPECT_EQ(table[p], Origins::of(3));
}

TEST(OriginTable, ComputesAsOriginsDo) {
  OriginTable table;
  std::vector<Origins> values = {Origins(), Origins::number()};
  for (uint32_t slot : {0u, 1u, 55u, kFurtherParameters, kLocalMemory, kForeign}) {
    values.push_back(Origins::of(slot));
    values.push_back(Origins::of(slot).negated());
    values.push_back(Origins::of(slot).scaled());
    values.push_back(sum(Origins::of(slot), Origins::of(1)));
    values.push_back(Origins(Origins::of(slot)).join(Origins::of(2)));
  }
  for (int again = 0; again < 2; ++again) // the second time from memory
    for (const Origins &a : values)
      for (const Origins &b : values) {
        const OriginTable::Id x = table.idOf(a), y = table.idOf(b);
        EXPECT_EQ(table[table.join(x, y)], Origins(a).join(b));
        EXPECT_EQ(table[table.sum(x, y)], sum(a, b));
        EXPECT_EQ(table[table.difference(x, y)], sum(a, b.negated()));
        EXPECT_EQ(table[table.scaled(x)], a.scaled());
      }
}

TEST(OriginTable, GrowsAndForgets) {
  OriginTable table;
  for (uint64_t i = 0; i < 3000; ++i)
    EXPECT_EQ(table.idOf({~i, i, 0, 0}), i == 0 ? OriginTable::kNumber : OriginTable::Id(i + 1));
  EXPECT_EQ(table[table.idOf({~uint64_t(77), 77, 0, 0})].plus, 77u);
  table.clear();
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.idOf(Origins::of(9)), 2u);
}

} // namespace
} // namespace tenon::linker
