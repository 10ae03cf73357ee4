// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/knowledge.h"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

TEST(Knowledge, JoinsWithinABlock) {
  Knowledge a(3, 4), b(3, 4);
  a.note(3, 0, 5);
  b.note(3, 0, 2);
  b.note(3, 1, 7);
  a.join(b);
  EXPECT_EQ(a.of(3, 0), 5u);
  EXPECT_EQ(a.of(3, 1), 7u);
  EXPECT_EQ(a.of(3, 2), 0u);
}

TEST(Knowledge, KnowsOtherBlocksOnlyWhenTold) {
  Knowledge a(0, 2), b(1, 2), c(2, 2);
  c.note(2, 1, 9);
  b.note(1, 0, 4);
  EXPECT_EQ(a.of(2, 1), 0u);
  b.join(c);
  a.join(b); // through b
  EXPECT_EQ(a.of(1, 0), 4u);
  EXPECT_EQ(a.of(2, 1), 9u);
  Knowledge later(1, 2);
  later.note(1, 1, 6);
  a.join(later);
  EXPECT_EQ(a.of(1, 0), 4u);
  EXPECT_EQ(a.of(1, 1), 6u);
  a.note(2, 0, 3);
  EXPECT_EQ(a.of(2, 0), 3u);
  EXPECT_EQ(a.of(2, 1), 9u);
}

TEST(Gathering, WhatWasSharedDoesNotChange) {
  KnowledgePtr base = std::make_shared<Knowledge>(0, 2);
  Gathering gathering;
  gathering.add(base, 0, 0, 1);
  KnowledgePtr seen = gathering.share();
  gathering.add(base, 0, 1, 8);
  EXPECT_EQ(seen->of(0, 1), 0u);
  EXPECT_EQ(gathering.share()->of(0, 1), 8u);
  EXPECT_EQ(gathering.share()->of(0, 0), 1u);
  EXPECT_EQ(base->of(0, 0), 0u);
  gathering.clear();
  EXPECT_TRUE(gathering.empty());
}

} // namespace
} // namespace tenon::emulator
