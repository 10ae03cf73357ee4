// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/cell.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

const Secrets kSecrets{.pointers = slotBit(0) | slotBit(1) | slotBit(2) | slotBit(3)};

TEST(Cell, TellsPlacesApart) {
  Cell cell;
  EXPECT_TRUE(storeInto(cell, 0, 8, Origins::of(1)));
  EXPECT_TRUE(storeInto(cell, 8, 8, Origins::of(2)));
  EXPECT_FALSE(storeInto(cell, 8, 8, Origins::of(2))) << "nothing new";
  EXPECT_EQ(loadFrom(cell, 0, 8, kSecrets), Origins::of(1));
  EXPECT_EQ(loadFrom(cell, 8, 8, kSecrets), Origins::of(2));
  EXPECT_TRUE(loadFrom(cell, 16, 8, kSecrets).isNumber());
  EXPECT_TRUE(loadFrom(cell, -8, 8, kSecrets).isNumber());
}

TEST(Cell, WhatIsReadInPartIsCut) {
  Cell cell;
  storeInto(cell, 0, 8, Origins::of(1));
  storeInto(cell, 8, 8, Origins::of(2));
  const Origins p = Origins::of(1), q = Origins::of(2);
  EXPECT_EQ(loadFrom(cell, 0, 4, kSecrets), kSecrets.truncated(p)) << "the low half";
  EXPECT_EQ(loadFrom(cell, 0, 2, kSecrets), kSecrets.truncated(p));
  EXPECT_EQ(loadFrom(cell, 0, 1, kSecrets), kSecrets.cut(p));
  EXPECT_EQ(loadFrom(cell, 4, 4, kSecrets), kSecrets.cut(p)) << "the other";
  EXPECT_EQ(loadFrom(cell, 1, 4, kSecrets), kSecrets.cut(p));
  EXPECT_EQ(loadFrom(cell, 7, 1, kSecrets), kSecrets.cut(p)) << "the last byte";
  EXPECT_EQ(loadFrom(cell, -4, 8, kSecrets), kSecrets.cut(p)) << "from before it";
  EXPECT_EQ(loadFrom(cell, -7, 8, kSecrets), kSecrets.cut(p)) << "one byte of it";
  EXPECT_EQ(loadFrom(cell, 4, 8, kSecrets), kSecrets.cut(Origins(p).join(q))) << "across both";
  EXPECT_EQ(loadFrom(cell, 0, 16, kSecrets), kSecrets.cut(Origins(p).join(q)));
  EXPECT_EQ(loadFrom(cell, 0, 9, kSecrets), kSecrets.cut(Origins(p).join(q)));
  EXPECT_EQ(loadFrom(cell, 15, 1, kSecrets), kSecrets.cut(q));
  EXPECT_TRUE(loadFrom(cell, 16, 1, kSecrets).isNumber());
}

TEST(Cell, WhatIsWrittenOverInPartMayBeEither) {
  Cell cell;
  storeInto(cell, 0, 8, Origins::of(1));
  storeInto(cell, 4, 4, Origins::number());
  Origins either = Origins::of(1);
  either.join(kSecrets.cut(either)).join(Origins::number());
  EXPECT_EQ(loadFrom(cell, 0, 8, kSecrets), either);
  EXPECT_EQ(loadFrom(cell, 4, 4, kSecrets), Origins(kSecrets.cut(Origins::of(1))).join(Origins::number()));
  EXPECT_EQ(loadFrom(cell, 0, 4, kSecrets), kSecrets.truncated(Origins::of(1)));
}

TEST(Cell, AnywhereIsWholeAndCut) {
  Cell cell;
  storeInto(cell, 0, 8, Origins::of(1));
  storeInto(cell, 64, 4, Origins::of(9)); // a number
  const Origins all = loadAnywhere(cell, kSecrets);
  EXPECT_EQ(all.plus, slotBit(1) | slotBit(9));
  EXPECT_EQ(all.part, slotBit(1));
}

TEST(Cell, BecomesOnePlaceWhenThereAreTooMany) {
  Cell cell;
  for (int64_t i = 0; i < 255; ++i)
    storeInto(cell, i * 8, 8, Origins::of(uint32_t(i % 3)));
  EXPECT_EQ(cell.size(), 255u);
  EXPECT_EQ(loadFrom(cell, 8, 8, kSecrets), Origins::of(1));
  storeInto(cell, 255 * 8, 8, Origins::of(0));
  EXPECT_EQ(cell.size(), 256u);
  storeInto(cell, 256 * 8, 8, Origins::of(1));
  EXPECT_EQ(cell.size(), 1u);
  EXPECT_NE(loadFrom(cell, 4000, 8, kSecrets).part & slotBit(2), 0u);
  storeInto(cell, 8, 8, Origins::of(3));
  EXPECT_EQ(cell.size(), 1u);
  EXPECT_NE(loadFrom(cell, 4000, 8, kSecrets).part & slotBit(3), 0u);
}

TEST(Cell, AParameterHoldsItsPointerOrIsANumber) {
  Cell cell;
  const ParameterSlots slots = slotPerParameter({false, true});
  kernelArgument(slots, 1, 8, cell);
  EXPECT_EQ(cell, (Cell{{0, 8, Origins::of(1)}}));
  kernelArgument(slots, 0, 4, cell);
  EXPECT_EQ(cell, (Cell{{0, 4, Origins::of(0)}}));
  kernelArgument(slots, 2, 16, cell);
  EXPECT_EQ(cell, (Cell{{0, 16, Origins::number()}})) << "nobody asks for it";
}

TEST(Cell, PointersInsideAStructStandAtTheirOffsets) {
  Cell cell;
  const ParameterSlots slots = {{.parameter = 0, .isPointer = true},
                                {.parameter = 1},
                                {.parameter = 1, .offset = 24, .isPointer = true},
                                {.parameter = 1, .offset = 8, .isPointer = true}};
  kernelArgument(slots, 1, 40, cell);
  EXPECT_EQ(loadFrom(cell, 0, 8, kSecrets), Origins::of(1));
  EXPECT_EQ(loadFrom(cell, 8, 8, kSecrets), Origins::of(3));
  EXPECT_EQ(loadFrom(cell, 16, 8, kSecrets), Origins::of(1));
  EXPECT_EQ(loadFrom(cell, 24, 8, kSecrets), Origins::of(2));
  EXPECT_EQ(loadFrom(cell, 32, 8, kSecrets), Origins::of(1));
  kernelArgument(slots, 1, 32, cell);
  EXPECT_EQ(loadFrom(cell, 24, 8, kSecrets), Origins::of(2));
  EXPECT_EQ(cell.size(), 4u) << "nothing behind the last one";
}

TEST(Cell, WordsSomewhereAreWhole) {
  const Secrets secrets{.pointers = slotBit(0) | slotBit(1)};
  const Origins p = Origins::of(0), q = Origins::of(1), number = Origins::number();
  Cell cell;
  storeInto(cell, 0, 8, p);
  storeInto(cell, 8, 8, q);
  storeInto(cell, 16, 4, p);
  EXPECT_EQ(loadSomewhere(cell, 0, 16, 8, secrets), Origins(number).join(p).join(q));
  EXPECT_EQ(loadSomewhere(cell, 8, 8, 8, secrets), Origins(number).join(q));
  EXPECT_EQ(loadSomewhere(cell, 7, 1, 8, secrets), Origins(number).join(p)) << "a byte of it is enough";
  EXPECT_EQ(loadSomewhere(cell, 0, 8, 4, secrets), Origins(number).join(secrets.cut(p)));
  EXPECT_EQ(loadSomewhere(cell, 16, 8, 8, secrets), Origins(number).join(secrets.cut(p)));
  EXPECT_EQ(loadSomewhere(cell, 20, 8, 8, secrets), number);
}

} // namespace
} // namespace tenon::linker
