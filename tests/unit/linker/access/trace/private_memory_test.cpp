// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/private_memory.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

const Secrets kSecrets{.pointers = slotBit(0) | slotBit(1)};
const Origins kP = Origins::of(0), kQ = Origins::of(1);

Origins joined(Origins a, const Origins &b) {
  return a.join(b);
}

TEST(MemoryContents, WordsStayWholeUntilSomethingOfAnotherWidthIsStored) {
  MemoryContents contents;
  EXPECT_EQ(contents.load(8, kSecrets), Origins::number());
  EXPECT_TRUE(contents.store(8, kP, kSecrets));
  EXPECT_FALSE(contents.store(8, kP, kSecrets)) << "nothing new";
  EXPECT_EQ(contents.load(8, kSecrets), joined(Origins::number(), kP));
  EXPECT_EQ(contents.load(4, kSecrets), joined(Origins::number(), kSecrets.cut(kP))) << "a piece of it";
  EXPECT_EQ(contents.over(kQ, kSecrets), kQ) << "words are written over as words";
  EXPECT_EQ(contents.involved(), slotBit(0));

  EXPECT_TRUE(contents.store(4, Origins::number(), kSecrets)) << "from now on words may be in pieces";
  EXPECT_FALSE(contents.store(4, Origins::number(), kSecrets));
  EXPECT_EQ(contents.load(8, kSecrets), joined(joined(Origins::number(), kP), kSecrets.cut(kP)));
  EXPECT_EQ(contents.over(kQ, kSecrets), joined(kQ, kSecrets.cut(kQ)));
}

TEST(MemoryContents, WhatIsNotAWordIsCut) {
  MemoryContents contents;
  EXPECT_TRUE(contents.store(4, kQ, kSecrets));
  EXPECT_EQ(contents.load(4, kSecrets), joined(Origins::number(), kSecrets.cut(kQ)));
  EXPECT_EQ(contents.load(8, kSecrets), joined(Origins::number(), kSecrets.cut(kQ)));
  EXPECT_TRUE(contents.store(0, kP, kSecrets)) << "of no width that is told";
  EXPECT_EQ(contents.involved(), slotBit(0) | slotBit(1));
  EXPECT_EQ(contents.all(), joined(Origins::number(), kSecrets.cut(joined(kP, kQ))));
}

TEST(PrivateMemory, BeginsWithWhatAKernelFinds) {
  PrivateMemory memory;
  memory.scatter(kLocalMemory, 8, kP);
  memory.parametersEscaped = true;
  memory.tensor.store(1, kP, kSecrets);
  memory.reset(kSecrets);
  EXPECT_FALSE(memory.parametersEscaped);
  EXPECT_EQ(memory.at(kLocalMemory).load(8, kSecrets), Origins::number());
  EXPECT_EQ(memory.at(kParamMemory).load(8, kSecrets), Origins::number());
  EXPECT_EQ(memory.at(kSharedMemory).load(8, kSecrets), joined(Origins::number(), Origins::of(kForeign)))
      << "other threads write there";
  EXPECT_EQ(memory.scattered(kSharedMemory).load(8, kSecrets), Origins::number());
  EXPECT_EQ(memory.tensor.involved(), slotBit(kForeign));
}

TEST(PrivateMemory, TellsPlacesThatAreKnownFromThoseThatAreNot) {
  PrivateMemory memory;
  memory.reset(kSecrets);
  EXPECT_TRUE(memory.remember(kLocalMemory, 8, kP));
  EXPECT_FALSE(memory.remember(kLocalMemory, 8, kP));
  EXPECT_EQ(memory.at(kLocalMemory).involved(), slotBit(0));
  EXPECT_EQ(memory.scattered(kLocalMemory).involved(), 0u);
  EXPECT_TRUE(memory.scatter(kLocalMemory, 8, kP)) << "new at other places";
  EXPECT_FALSE(memory.scatter(kLocalMemory, 8, kP));
  EXPECT_EQ(memory.scattered(kLocalMemory).involved(), slotBit(0));
  EXPECT_TRUE(memory.scatter(kSharedMemory, 8, kQ));
  EXPECT_EQ(memory.at(kSharedMemory).involved(), slotBit(1) | slotBit(kForeign));
  EXPECT_EQ(memory.at(kParamMemory).involved(), 0u);
}

TEST(PrivateMemory, ALoadFindsWhatItsAddressMayLeadTo) {
  using Space = ptx::StateSpace;
  PrivateMemory memory;
  memory.reset(kSecrets);
  memory.remember(kParamMemory, 8, kP);
  memory.remember(kLocalMemory, 8, kQ);
  memory.remember(kSharedMemory, 8, Origins::of(7));
  const Origins number = Origins::number(), foreign = Origins::of(kForeign);
  const Origins param = joined(number, kP), local = joined(number, kQ);
  const Origins shared = joined(joined(number, foreign), Origins::of(7));
  EXPECT_EQ(memory.behind(number, Space::Param, 8), param);
  EXPECT_EQ(memory.behind(number, Space::Local, 8), local);
  EXPECT_EQ(memory.behind(number, Space::Shared, 8), shared);
  EXPECT_EQ(memory.behind(Origins::of(kLocalMemory), Space::Global, 8), foreign);
  EXPECT_EQ(memory.behind(Origins::of(kLocalMemory), Space::Const, 8), foreign);
  EXPECT_EQ(memory.behind(Origins(), Space::Local, 8), Origins()) << "not computed yet";

  EXPECT_EQ(memory.behind(Origins::of(kLocalMemory), Space::Generic, 8), local) << "surely there";
  EXPECT_EQ(memory.behind(Origins::of(kParamMemory), Space::Generic, 8), param);
  EXPECT_EQ(memory.behind(joined(Origins::of(kLocalMemory), number), Space::Generic, 8), joined(local, foreign));
  EXPECT_EQ(memory.behind(kP, Space::Generic, 8), foreign);
  EXPECT_EQ(memory.behind(foreign, Space::Generic, 8), joined(joined(local, shared), foreign))
      << "an address from memory may be one of private memory, but no parameter's";
  memory.parametersEscaped = true;
  EXPECT_EQ(memory.behind(foreign, Space::Generic, 8), joined(joined(joined(local, shared), foreign), param));
}

TEST(PrivateMemory, ATableIsAFunctionOfItsIndex) {
  PrivateMemory memory;
  memory.reset(kSecrets);
  const Origins few = kSecrets.narrowed(kP), part = Origins::partOf(slotBit(0));
  EXPECT_EQ(memory.behind(few, ptx::StateSpace::Local, 4).few, slotBit(0));
  EXPECT_EQ(memory.behind(few, ptx::StateSpace::Local, 4).part, 0u);
  EXPECT_EQ(memory.behind(part, ptx::StateSpace::Global, 4).part & slotBit(0), slotBit(0));
  EXPECT_EQ(memory.behind(kP, ptx::StateSpace::Global, 4).involved(), slotBit(kForeign)) << "what its buffer holds";
}

} // namespace
} // namespace tenon::linker
