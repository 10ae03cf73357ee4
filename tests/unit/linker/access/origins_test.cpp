// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/origins.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

const Origins kNumber = Origins::number();
const Origins kP = Origins::of(0);
const Origins kQ = Origins::of(1);

TEST(Origins, APointerAndANumberIsThePointer) {
  EXPECT_EQ(sum(kP, kNumber), kP);
  EXPECT_EQ(kP.surely(), slotBit(0));
}

TEST(Origins, ADifferenceOfTheSamePointerIsANumber) {
  EXPECT_EQ(sum(kP, kP.negated()), kNumber);
  EXPECT_EQ(sum(kQ, sum(kP, kQ.negated())), kP);
}

TEST(Origins, ADifferenceOfFurtherParametersIsNotOneOfTheSamePointer) {
  const Origins further = Origins::of(kFurtherParameters);
  EXPECT_EQ(sum(further, further.negated()).other, slotBit(kFurtherParameters));
}

TEST(Origins, TwiceAPointerIsNoAddress) {
  const Origins twice = sum(kP, kP);
  EXPECT_EQ(twice.surely(), 0u);
  EXPECT_EQ(twice.other, slotBit(0));
  EXPECT_EQ(kP.scaled().other, slotBit(0));
  EXPECT_EQ(kNumber.scaled(), kNumber);
}

TEST(Origins, AJoinIsSureOfWhatBothAreSureOf) {
  Origins either = kP;
  either.join(kQ);
  EXPECT_EQ(either.involved(), slotBit(0) | slotBit(1));
  EXPECT_EQ(either.surely(), 0u);
  Origins same = kP;
  EXPECT_EQ(same.join(kP), kP);
}

TEST(Origins, NothingIsKnownOfASumOfTheUnknown) {
  EXPECT_FALSE(Origins().isKnown());
  EXPECT_FALSE(sum(kP, Origins()).isKnown());
  EXPECT_EQ(Origins().join(kP), kP);
}

/// A sum of joins holds every sum of their parts.
TEST(Origins, SumsOfJoinsCoverTheSumsOfTheirParts) {
  const Origins parts[] = {kNumber, kP, kP.negated(), kP.scaled(), kQ};
  for (const Origins &a : parts)
    for (const Origins &b : parts)
      for (const Origins &c : parts) {
        Origins joined = a;
        joined.join(b);
        Origins covered = sum(joined, c);
        const Origins before = covered;
        covered.join(sum(a, c)).join(sum(b, c));
        EXPECT_EQ(covered, before);
      }
}

} // namespace
} // namespace tenon::linker
