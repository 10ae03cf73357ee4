// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/known_values.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

using Id = OriginTable::Id;

/// Values of a body whose registers have so many definitions each.
class Body {
public:
  explicit Body(std::vector<uint32_t> definitions, KnownValues &values) : known(values) {
    uses.registerCount = plan.registerCount = static_cast<uint32_t>(definitions.size());
    uses.definitions = std::move(definitions);
    known.begin(uses, plan);
  }
  /// Plans once more, as PlanBuilder does: from an empty plan.
  void again() {
    plan.constants.clear();
    known.beginAgain();
  }
  Id idOf(uint32_t parameter) { return known.table.idOf(Origins::of(parameter)); }
  bool isKnownAs(uint32_t reg, Id id) {
    const PlannedValue value = known.read(reg);
    return value.isKnown() && value.id() == id;
  }
  bool isRegister(uint32_t reg) {
    const PlannedValue value = known.read(reg);
    return !value.isKnown() && value.reg() == reg;
  }

  KnownValues &known;
  ptx::DefUse uses;
  Plan plan;
};

constexpr bool kMayAssume = true;

TEST(KnownValues, ARegisterIsKnownFromItsDefinitionOn) {
  KnownValues known;
  Body body({1, 1}, known);
  const Id p = body.idOf(0);
  EXPECT_EQ(known.peek(0), OriginTable::kUnknown);
  EXPECT_TRUE(known.define(0, p, !kMayAssume)) << "one definition leaves nothing to assume";
  EXPECT_TRUE(body.isKnownAs(0, p));
  EXPECT_EQ(known.peek(0), p);
  EXPECT_TRUE(body.isRegister(1));
  EXPECT_FALSE(known.assumedWrongly());
  EXPECT_TRUE(known.hasOneDefinition(0));
}

TEST(KnownValues, WhatWasReadBeforeItsDefinitionKeepsItsStep) {
  KnownValues known;
  Body body({1}, known);
  EXPECT_TRUE(body.isRegister(0));
  EXPECT_FALSE(known.define(0, body.idOf(0), kMayAssume));
  EXPECT_TRUE(known.defineLater(0)) << "it was read";
  EXPECT_TRUE(body.isRegister(0));
  EXPECT_EQ(known.peek(0), OriginTable::kUnknown);
  EXPECT_FALSE(known.assumedWrongly()) << "nothing was assumed";
}

TEST(KnownValues, WhatAStepDefinesIsNotKnownFromAnotherDefinition) {
  KnownValues known;
  Body body({2}, known);
  EXPECT_FALSE(known.defineLater(0)) << "nothing has read it";
  EXPECT_FALSE(known.define(0, body.idOf(0), kMayAssume));
  EXPECT_TRUE(body.isRegister(0));
  EXPECT_FALSE(known.hasOneDefinition(0));
}

TEST(KnownValues, PeekingIsNotReading) {
  KnownValues known;
  Body body({1}, known);
  EXPECT_EQ(known.peek(0), OriginTable::kUnknown);
  EXPECT_TRUE(known.define(0, body.idOf(0), kMayAssume));
}

TEST(KnownValues, WhatNoInstructionWritesIsANumber) {
  KnownValues known;
  Body body({0, 1}, known);
  EXPECT_TRUE(body.isKnownAs(0, OriginTable::kNumber));
  known.findUndefined();
  EXPECT_TRUE(body.plan.undefined.empty());
}

TEST(KnownValues, FindsWhatIsReadAndNeverDefined) {
  KnownValues known;
  Body body({1, 1, 1, 1, 1}, known);
  EXPECT_TRUE(known.define(0, body.idOf(0), kMayAssume)); // 1: nobody reads it
  EXPECT_FALSE(known.defineLater(2));
  for (uint32_t reg : {4u, 3u, 2u, 0u})
    known.read(reg);
  known.findUndefined();
  EXPECT_EQ(body.plan.undefined, (std::vector<uint32_t>{3, 4}));
}

TEST(KnownValues, OfSeveralDefinitionsTheFirstIsTakenWhereThatMayBeAssumed) {
  KnownValues known;
  Body body({2, 2}, known);
  const Id p = body.idOf(0);
  EXPECT_TRUE(known.define(0, p, kMayAssume));
  EXPECT_TRUE(body.isKnownAs(0, p));
  EXPECT_TRUE(known.define(0, p, !kMayAssume)) << "the second gives the same";
  EXPECT_FALSE(known.define(1, p, !kMayAssume));
  EXPECT_TRUE(body.isRegister(1));
  EXPECT_FALSE(known.assumedWrongly());
}

TEST(KnownValues, ADefinitionThatGivesAnotherValueWithdrawsTheAssumption) {
  KnownValues known;
  Body body({2, 2}, known);
  const Id p = body.idOf(0), q = body.idOf(1);
  EXPECT_TRUE(known.define(0, p, kMayAssume));
  EXPECT_FALSE(known.define(0, q, kMayAssume));
  EXPECT_TRUE(known.assumedWrongly());
  EXPECT_TRUE(body.isRegister(0));
  EXPECT_FALSE(known.define(0, q, kMayAssume)) << "those who read it wait for its steps";

  body.again();
  EXPECT_FALSE(known.assumedWrongly());
  EXPECT_FALSE(known.define(0, p, kMayAssume));
  EXPECT_FALSE(known.define(0, q, kMayAssume));
  EXPECT_TRUE(body.isRegister(0));
  EXPECT_TRUE(known.define(1, p, kMayAssume)) << "of the other nothing was found wrong";
  EXPECT_FALSE(known.assumedWrongly());
}

TEST(KnownValues, AStepThatDefinesWhatIsKnownWithdrawsTheAssumption) {
  KnownValues known;
  Body body({2}, known);
  EXPECT_TRUE(known.define(0, body.idOf(0), kMayAssume));
  EXPECT_TRUE(known.defineLater(0)) << "taken to be read: by whom is not known any more";
  EXPECT_TRUE(known.assumedWrongly());
  EXPECT_TRUE(body.isRegister(0));
  body.again();
  EXPECT_FALSE(known.define(0, body.idOf(0), kMayAssume));
}

TEST(KnownValues, RoundsAreBounded) {
  // In each round another register turns out to hold two values, as in a chain of loops.
  constexpr uint32_t kRegisters = 40;
  KnownValues known;
  Body body(std::vector<uint32_t>(kRegisters, 2), known);
  const Id p = body.idOf(0), q = body.idOf(1);
  uint32_t rounds = 0, knownLast = 0;
  do {
    if (++rounds > 1)
      body.again();
    knownLast = 0;
    for (uint32_t reg = 0; reg < kRegisters && !known.assumedWrongly(); ++reg)
      if (known.define(reg, p, kMayAssume)) {
        ++knownLast;
        EXPECT_FALSE(known.define(reg, q, kMayAssume));
      }
  } while (known.assumedWrongly() && rounds < kRegisters);
  EXPECT_EQ(rounds, 4u) << "three that assume, and one that does not";
  EXPECT_EQ(knownLast, 0u);
}

TEST(KnownValues, TheLastRoundKeepsWhatNeedsNoAssumption) {
  KnownValues known;
  Body body({1, 2, 0}, known);
  for (int i = 0; i < 3; ++i)
    body.again();
  const Id p = body.idOf(0);
  EXPECT_TRUE(known.define(0, p, kMayAssume));
  EXPECT_FALSE(known.define(1, p, kMayAssume));
  EXPECT_TRUE(body.isKnownAs(2, OriginTable::kNumber));
}

TEST(KnownValues, AnotherBodyAssumesAnew) {
  KnownValues known;
  {
    Body body({2}, known);
    EXPECT_TRUE(known.define(0, body.idOf(0), kMayAssume));
    EXPECT_FALSE(known.define(0, body.idOf(1), kMayAssume));
    for (int i = 0; i < 3; ++i)
      body.again();
  }
  Body body({2}, known);
  EXPECT_FALSE(known.assumedWrongly());
  EXPECT_EQ(known.peek(0), OriginTable::kUnknown);
  EXPECT_TRUE(known.define(0, body.idOf(0), kMayAssume));
}

TEST(KnownValues, NumbersConstantsBehindTheRegistersEachOnce) {
  KnownValues known;
  Body body({1, 1, 1}, known);
  const Id p = body.idOf(0), q = body.idOf(1);
  EXPECT_EQ(known.numberOf(PlannedValue::ofRegister(2)), 2u);
  EXPECT_TRUE(body.plan.constants.empty());
  EXPECT_EQ(known.numberOf(PlannedValue::known(q)), 3u);
  EXPECT_EQ(known.numberOf(PlannedValue::known(p)), 4u);
  EXPECT_EQ(known.numberOf(PlannedValue::known(q)), 3u);
  EXPECT_EQ(known.numberOf(PlannedValue::known(known.shared)), 5u);
  EXPECT_EQ(body.plan.constants, (std::vector<Origins>{Origins::of(1), Origins::of(0), Origins::of(kSharedMemory)}));
}

TEST(KnownValues, ConstantsAreNumberedAnewInEveryPlan) {
  KnownValues known;
  Body body({1}, known);
  const Id p = body.idOf(0), q = body.idOf(1);
  known.numberOf(PlannedValue::known(p));
  known.numberOf(PlannedValue::known(q));
  body.again();
  EXPECT_EQ(known.numberOf(PlannedValue::known(q)), 1u);
  EXPECT_EQ(body.plan.constants, std::vector<Origins>{Origins::of(1)});

  Body next({1, 1}, known);
  EXPECT_EQ(known.numberOf(PlannedValue::known(p)), 2u);
  EXPECT_EQ(next.plan.constants, std::vector<Origins>{Origins::of(0)});
}

/// Which origin each named constant stands for.
void expectNamed(const KnownValues &known) {
  EXPECT_EQ(known.table[known.local], Origins::of(kLocalMemory));
  EXPECT_EQ(known.table[known.shared], Origins::of(kSharedMemory));
  EXPECT_EQ(known.table[known.module], Origins::of(kModuleMemory));
  EXPECT_EQ(known.table[known.foreign], Origins::of(kForeign));
  EXPECT_EQ(known.table[known.param], Origins::of(kParamMemory));
}

TEST(KnownValues, TheTableIsKeptFromBodyToBodyUntilItIsLarge) {
  KnownValues known;
  expectNamed(known);
  const size_t fresh = known.table.size();
  const Id p = Body({1}, known).idOf(0);
  EXPECT_EQ(Body({1}, known).idOf(0), p);
  EXPECT_EQ(known.table.size(), fresh + 1);

  Body large({1}, known);
  for (uint64_t i = 1; i <= 5000; ++i) { // a number each, so that there is much to be forgotten
    const Id id = known.table.idOf({.none = ~i, .plus = i});
    known.numberOf(PlannedValue::known(id));
  }
  EXPECT_GE(large.plan.constants.size(), 5000u);
  large.again();
  EXPECT_GE(known.table.size(), 5000u) << "ids of a body stay what they are while it is planned";
  expectNamed(known);

  Body after({1, 1}, known);
  EXPECT_EQ(known.table.size(), fresh) << "cleared";
  expectNamed(known);
  EXPECT_TRUE(known.define(0, after.idOf(3), kMayAssume));
  EXPECT_EQ(known.numberOf(known.read(0)), 2u);
  EXPECT_EQ(known.numberOf(PlannedValue::known(known.param)), 3u);
  EXPECT_EQ(after.plan.constants, (std::vector<Origins>{Origins::of(3), Origins::of(kParamMemory)}));
}

} // namespace
} // namespace tenon::linker
