// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/race_detector.h"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

/// Two blocks of 64 threads, with global and shared memory.
class Races : public ::testing::Test {
protected:
  void SetUp() override {
    for (uint32_t k = 0; k < 2; ++k)
      RaceDetector::start(blocks_[k], k, 64, 256);
  }
  bool touch(uint32_t block, uint32_t thread, uint64_t address, bool isWrite, bool shared = false, uint32_t bytes = 4,
             MemoryOrder order = {}) {
    return races_
        .access(blocks_[block], thread, shared ? &blocks_[block] : nullptr, {address, bytes, isWrite, order, 0})
        .has_value();
  }
  bool write(uint32_t block, uint32_t thread, uint64_t address) { return touch(block, thread, address, true); }
  bool read(uint32_t block, uint32_t thread, uint64_t address) { return touch(block, thread, address, false); }
  bool atomic(uint32_t block, uint32_t thread, uint64_t address, bool isWrite = true) {
    MemoryOrder order;
    order.strong = order.wide = true;
    order.readModifyWrite = isWrite;
    return touch(block, thread, address, isWrite, false, 4, order);
  }
  void fence(uint32_t block, uint32_t thread, bool wide = true) {
    MemoryOrder order;
    order.isFence = order.acquire = order.release = true;
    order.wide = wide;
    RaceDetector::fence(blocks_[block].threads[thread], order);
  }
  void barrier(uint32_t block, uint32_t from, uint32_t to) {
    PhaseClock &clock = blocks_[block].barriers[0];
    for (uint32_t t = from; t < to; ++t)
      RaceDetector::arrive(blocks_[block], t, clock);
    RaceDetector::complete(clock);
    for (uint32_t t = from; t < to; ++t)
      RaceDetector::leave(blocks_[block], t, clock);
  }
  RaceDetector races_;
  BlockClocks blocks_[2];
};

TEST_F(Races, OneThreadNeverRacesWithItself) {
  EXPECT_FALSE(write(0, 3, 64) || read(0, 3, 64) || write(0, 3, 64));
}

TEST_F(Races, BarriersOrderWhoTakesPart) {
  write(0, 1, 64);
  EXPECT_TRUE(read(0, 2, 64));
  write(0, 1, 68);
  barrier(0, 0, 32);
  EXPECT_FALSE(read(0, 2, 68));
  EXPECT_TRUE(read(0, 40, 68)); // was not there
}

TEST_F(Races, AWriteAfterAReadIsOrderedToo) {
  read(0, 5, 64);
  read(0, 6, 64);
  EXPECT_TRUE(write(0, 5, 64)); // the other read
  read(0, 5, 128);
  barrier(0, 0, 64);
  EXPECT_FALSE(write(0, 6, 128));
}

TEST_F(Races, NeighbouringBytesAreApart) {
  EXPECT_FALSE(touch(0, 1, 64, true, false, 1) || touch(0, 2, 65, true, false, 1) || touch(0, 3, 66, true, false, 2));
  EXPECT_TRUE(touch(0, 4, 66, false, false, 1));
}

TEST_F(Races, SharedMemoryOfBlocksIsTheirOwn) {
  EXPECT_FALSE(touch(0, 1, 64, true, true) || touch(1, 2, 64, true, true));
  EXPECT_TRUE(touch(1, 3, 64, false, true));
}

TEST_F(Races, AtomicsDoNotRaceButOrderNothingAlone) {
  EXPECT_FALSE(atomic(0, 1, 64) || atomic(1, 2, 64));
  EXPECT_TRUE(read(1, 3, 64));
  write(0, 1, 128);
  atomic(0, 1, 192);
  atomic(1, 2, 192);
  EXPECT_TRUE(read(1, 2, 128));
}

TEST_F(Races, AStrongAccessDoesNotHideAWeakOne) {
  write(0, 1, 64);
  EXPECT_FALSE(atomic(0, 1, 64));
  EXPECT_TRUE(atomic(0, 2, 64));
  read(0, 1, 128);
  EXPECT_FALSE(atomic(0, 1, 128, false));
  EXPECT_TRUE(atomic(0, 2, 128));
}

TEST_F(Races, FencesAndAFlagOrderBlocks) {
  write(0, 1, 128);
  fence(0, 1);
  atomic(0, 1, 192);
  write(0, 1, 132); // after the fence: not released
  atomic(1, 2, 192, false);
  fence(1, 2);
  EXPECT_FALSE(read(1, 2, 128));
  EXPECT_TRUE(read(1, 2, 132));
  EXPECT_TRUE(read(1, 3, 128)); // another thread did not look at the flag
}

TEST_F(Races, AFenceOfTheBlockDoesNotReachOthers) {
  write(0, 1, 128);
  fence(0, 1, false);
  atomic(0, 1, 192);
  atomic(0, 2, 192, false);
  fence(0, 2, false);
  EXPECT_FALSE(read(0, 2, 128));
  atomic(1, 2, 192, false);
  fence(1, 2);
  EXPECT_TRUE(read(1, 2, 128));
}

TEST_F(Races, GridBarrierByAtomics) {
  for (uint32_t b : {0u, 1u})
    write(b, 7, 128 + 4 * b);
  for (uint32_t b : {0u, 1u}) {
    barrier(b, 0, 64);
    fence(b, 0);
    atomic(b, 0, 192);
  }
  for (uint32_t b : {0u, 1u}) {
    atomic(b, 0, 192, false);
    fence(b, 0);
    barrier(b, 0, 64);
  }
  EXPECT_FALSE(read(0, 9, 132) || read(1, 9, 128));
}

TEST_F(Races, LanesMeetAtAWarpBarrier) {
  touch(0, 33, 64, true, true);
  EXPECT_TRUE(touch(0, 34, 64, false, true));
  touch(0, 33, 68, true, true);
  RaceDetector::meet(blocks_[0], 32, 0x6);
  EXPECT_FALSE(touch(0, 34, 68, false, true));
  EXPECT_TRUE(touch(0, 35, 68, false, true)); // lane 3 was not in the mask
}

TEST_F(Races, AsynchronousCopiesAreNotThereBeforeTheWait) {
  MemoryOrder copy;
  copy.asynchronous = true;
  touch(0, 1, 64, true, true, 16, copy);
  EXPECT_TRUE(touch(0, 1, 72, false, true)); // not even for the thread itself
  RaceDetector::arrived(blocks_[0], 1, blocks_[0], 64, 16);
  EXPECT_FALSE(touch(0, 1, 64, false, true));
  EXPECT_TRUE(touch(0, 2, 64, false, true));
}

/// A bulk copy that a thread of block 0 issues from or to shared memory.
class BulkRaces : public Races {
protected:
  std::optional<RaceDetector::Conflict> copy(uint32_t thread, uint64_t address, bool isWrite,
                                             RaceDetector::Channel channel) {
    return races_.access(blocks_[0], thread, &blocks_[0], {address, 16, isWrite, {}, 0, channel});
  }
  bool load(uint32_t thread, uint64_t address, PhaseClock &phase) {
    return copy(thread, address, true, RaceDetector::issue(blocks_[0], thread, blocks_[0], phase)).has_value();
  }
  std::optional<RaceDetector::Conflict> store(uint32_t thread, uint64_t address) {
    return copy(thread, address, false, RaceDetector::groupRead(blocks_[0], thread));
  }
  bool sharedWrite(uint32_t thread, uint64_t address) { return touch(0, thread, address, true, true); }
  bool sharedRead(uint32_t thread, uint64_t address) { return touch(0, thread, address, false, true); }
  void pass(uint32_t thread, const PhaseClock &phase) { RaceDetector::learn(blocks_[0], thread, phase); }
  void fenceProxy(uint32_t thread) { RaceDetector::proxyFence(blocks_[0].threads[thread]); }
  PhaseClock first_, second_;
};

TEST_F(BulkRaces, WhoWaitsForThePhaseSeesTheCopy) {
  EXPECT_FALSE(load(0, 0, first_));
  EXPECT_TRUE(sharedRead(0, 0)); // not even who issued it
  RaceDetector::arrive(blocks_[0], 0, first_);
  RaceDetector::completePhase(blocks_[0], first_);
  barrier(0, 0, 64); // says nothing of the copy
  EXPECT_TRUE(sharedRead(7, 4));
  pass(7, first_);
  EXPECT_FALSE(sharedRead(7, 4));
  EXPECT_TRUE(sharedRead(8, 8));
  barrier(0, 0, 64); // now it does
  EXPECT_FALSE(sharedRead(8, 8) || sharedWrite(9, 12));
}

TEST_F(BulkRaces, EachMbarrierSpeaksForItsOwnCopies) {
  load(0, 0, first_);
  load(0, 64, second_);
  RaceDetector::completePhase(blocks_[0], first_);
  RaceDetector::completePhase(blocks_[0], second_);
  pass(3, second_);
  EXPECT_FALSE(sharedRead(3, 64));
  EXPECT_TRUE(sharedRead(3, 0));
  pass(3, first_);
  EXPECT_FALSE(sharedRead(3, 4));
  // The next phase is another copy.
  EXPECT_FALSE(load(3, 64, first_) || load(3, 128, first_));
  pass(3, first_);
  EXPECT_TRUE(sharedRead(3, 128));
  RaceDetector::completePhase(blocks_[0], first_);
  pass(3, first_);
  EXPECT_FALSE(sharedRead(3, 132));
}

TEST_F(BulkRaces, ACopyComesAfterWhoReadTheBuffer) {
  sharedRead(5, 0);
  EXPECT_TRUE(load(0, 0, first_));
  sharedRead(5, 64);
  barrier(0, 0, 64);
  EXPECT_FALSE(load(0, 64, first_));
}

TEST_F(BulkRaces, TheGroupOfTheThreadIsWaitedFor) {
  sharedWrite(0, 0);
  fenceProxy(0);
  EXPECT_FALSE(store(0, 0));
  RaceDetector::commitGroup(blocks_[0], 0);
  EXPECT_TRUE(sharedWrite(0, 0));
  fenceProxy(0);
  EXPECT_FALSE(store(0, 4 * 16));
  RaceDetector::commitGroup(blocks_[0], 0);
  RaceDetector::waitGroup(blocks_[0], 0, 1, true); // all but the last
  EXPECT_FALSE(sharedWrite(0, 4));
  EXPECT_TRUE(sharedWrite(0, 64));
  EXPECT_TRUE(sharedWrite(1, 68));
  RaceDetector::waitGroup(blocks_[0], 0, 0, true);
  EXPECT_FALSE(sharedWrite(0, 72));
  EXPECT_TRUE(sharedWrite(1, 76));
  // Read is not yet done: what a copy wrote is behind the whole wait.
  copy(0, 128, true, RaceDetector::groupDone(blocks_[0], 0));
  RaceDetector::commitGroup(blocks_[0], 0);
  RaceDetector::waitGroup(blocks_[0], 0, 0, true);
  EXPECT_TRUE(sharedRead(0, 128));
  RaceDetector::waitGroup(blocks_[0], 0, 0, false);
  EXPECT_FALSE(sharedRead(0, 132));
}

TEST_F(BulkRaces, WhatThreadsWroteNeedsAFenceOfSomebodyOnTheWay) {
  auto unfenced = [](const std::optional<RaceDetector::Conflict> &found) { return found && found->unfenced; };
  sharedWrite(1, 0);
  barrier(0, 0, 64);
  EXPECT_TRUE(unfenced(store(0, 0)));
  sharedWrite(1, 16); // by who wrote
  fenceProxy(1);
  barrier(0, 0, 64);
  EXPECT_FALSE(store(0, 16));
  sharedWrite(1, 32); // by who copies
  barrier(0, 0, 64);
  fenceProxy(0);
  EXPECT_FALSE(store(0, 32));
  sharedWrite(1, 48); // by a third
  barrier(0, 0, 64);
  fenceProxy(2);
  barrier(0, 0, 64);
  EXPECT_FALSE(store(0, 48));
  fenceProxy(1); // before the write is too early
  sharedWrite(1, 64);
  barrier(0, 0, 64);
  EXPECT_TRUE(unfenced(store(0, 64)));
  sharedWrite(1, 80); // one that the copy does not come after says nothing
  barrier(0, 0, 64);
  fenceProxy(2);
  EXPECT_TRUE(unfenced(store(0, 80)));
}

TEST_F(BulkRaces, CopiesBehindCopiesNeedNone) {
  load(0, 0, first_);
  RaceDetector::completePhase(blocks_[0], first_);
  pass(0, first_);
  EXPECT_FALSE(store(0, 0));
}

} // namespace
} // namespace tenon::emulator
