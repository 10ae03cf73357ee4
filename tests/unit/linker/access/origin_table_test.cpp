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

TEST(OriginTable, EveryRoleMakesAnotherValue) {
  OriginTable table;
  for (Origins value : {Origins{.none = 2}, Origins{.plus = 2}, Origins{.minus = 2}, Origins{.mixed = 2},
                        Origins{.few = 2}, Origins{.index = 2}, Origins{.near = 2}, Origins{.part = 2}})
    table.idOf(value);
  EXPECT_EQ(table.size(), 10u);
}

TEST(OriginTable, ComputesAsOriginsDo) {
  OriginTable table;
  const OriginAlgebra algebra{{.pointers = slotBit(0) | slotBit(1) | slotBit(2)}};
  table.setSecrets(algebra.secrets);
  std::vector<Origins> values = {Origins(), Origins::number()};
  for (uint32_t slot : {0u, 1u, 55u, kFurtherSlots, kLocalMemory, kForeign}) {
    const Origins one = Origins::of(slot);
    for (const Origins &value : {one, one.negated(), mix(one, one), algebra.narrowed(one), algebra.indexed(one),
                                 blend(one, one), sum(one, Origins::of(1)), Origins(one).join(Origins::of(2))})
      values.push_back(value);
  }
  for (int again = 0; again < 2; ++again) // the second time from memory
    for (const Origins &a : values) {
      const OriginTable::Id x = table.idOf(a);
      EXPECT_EQ(table[table.negated(x)], a.negated());
      EXPECT_EQ(table[table.narrowed(x)], algebra.narrowed(a));
      EXPECT_EQ(table[table.indexed(x)], algebra.indexed(a));
      EXPECT_EQ(table[table.lowIndex(x)], algebra.lowIndex(a));
      EXPECT_EQ(table[table.scaled(x)], a.scaled());
      EXPECT_EQ(table[table.adjusted(x)], a.adjusted());
      EXPECT_EQ(table[table.truncated(x)], algebra.truncated(a));
      EXPECT_EQ(table[table.lowByte(x)], algebra.lowByte(a));
      EXPECT_EQ(table[table.gathered(x)], algebra.gathered(a));
      for (const Origins &b : values) {
        const OriginTable::Id y = table.idOf(b);
        EXPECT_EQ(table[table.join(x, y)], Origins(a).join(b));
        EXPECT_EQ(table[table.sum(x, y)], sum(a, b));
        EXPECT_EQ(table[table.mix(x, y)], mix(a, b));
        EXPECT_EQ(table[table.blend(x, y)], blend(a, b));
        EXPECT_EQ(table[table.pack(x, y)], pack(a, b));
        EXPECT_EQ(table[table.select(x, y)], select(a, b));
        EXPECT_EQ(table[table.within(x, y)], within(a, b));
      }
    }
}

TEST(OriginTable, AnswersAreForgottenWithTheSecretsThatTheyDependOn) {
  OriginTable table;
  const OriginTable::Id p = table.idOf(Origins::of(0));
  EXPECT_EQ(table.narrowed(p), OriginTable::kNumber) << "a number";
  table.setSecrets({.pointers = slotBit(0)});
  EXPECT_EQ(table[table.narrowed(p)].few, slotBit(0));
  EXPECT_EQ(table[p], Origins::of(0)) << "ids stay";
  table.setSecrets({});
  EXPECT_EQ(table.narrowed(p), OriginTable::kNumber);
}

TEST(OriginTable, GrowsAndForgets) {
  OriginTable table;
  for (uint64_t i = 0; i < 3000; ++i)
    EXPECT_EQ(table.idOf({.none = ~i, .plus = i}), i == 0 ? OriginTable::kNumber : OriginTable::Id(i + 1));
  EXPECT_EQ(table[table.idOf({.none = ~uint64_t(77), .plus = 77})].plus, 77u);
  table.clear();
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.idOf(Origins::of(9)), 2u);
}

} // namespace
} // namespace tenon::linker
