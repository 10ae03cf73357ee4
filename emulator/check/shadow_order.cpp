// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What puts accesses into an order: fences, barriers, the groups and mbarriers of copies.
#include "emulator/check/shadow_checker.h"

#include "emulator/machine/cluster.h"
#include "emulator/machine/decoded_kernel.h"

#include <algorithm>

namespace tenon::emulator {

void ShadowChecker::fence(Warp &warp, const Decoded &instruction, uint32_t mask) {
  const MemoryOrder &order = orders_[number(warp, instruction)];
  for (uint32_t rest = mask; order.isFence && rest; rest &= rest - 1)
    RaceDetector::fence(
        warp.block->shadow->clocks.threads[warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest))], order);
}

void ShadowChecker::meet(Warp &warp, uint32_t mask) {
  ++warp.block->shadow->phase;
  RaceDetector::meet(warp.block->shadow->clocks, warp.index * kLanes, mask & warp.live);
}

void ShadowChecker::passOn(Warp &warp, uint32_t mask) {
  if (launch_.checks.races)
    RaceDetector::passOn(warp.block->shadow->clocks, warp.index * kLanes, mask & warp.live);
}

void ShadowChecker::arriveAtBarrier(Warp &warp, uint32_t mask, uint32_t barrier) {
  BlockClocks &block = warp.block->shadow->clocks;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::arrive(block, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                         block.barriers[barrier]);
}
void ShadowChecker::completeBarrier(Block &block, uint32_t barrier) {
  ++block.shadow->phase;
  RaceDetector::complete(block.shadow->clocks.barriers[barrier]);
}
void ShadowChecker::leaveBarrier(Warp &warp, uint32_t mask, uint32_t barrier) {
  BlockClocks &block = warp.block->shadow->clocks;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::leave(block, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                        block.barriers[barrier]);
}

void ShadowChecker::arriveAtCluster(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::arrive(warp.block->shadow->clocks, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                         clusters_[warp.block->cluster]);
}
void ShadowChecker::completeCluster(const Cluster &cluster) {
  RaceDetector::complete(clusters_[&cluster]);
}
/// What a thread has come to know since it arrived, it still knows.
void ShadowChecker::leaveCluster(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::learn(warp.block->shadow->clocks, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                        clusters_[warp.block->cluster]);
}

/// Lanes of one instruction that issue the very same copy, as CUTLASS's epilogues do: a device issues one for the warp.
bool ShadowChecker::isRepeated(const Warp &warp, uint32_t instruction, const CopyPlan &plan) {
  if (plan.mbarrier || plan.op != ElementOp::Copy)
    return false;
  auto same = [](const CopyPiece &a, const CopyPiece &b) {
    return a.from == b.from && a.to == b.to && a.bytes == b.bytes;
  };
  const bool isSame =
      lastCopy_.warp == &warp && lastCopy_.instruction == instruction && lastCopy_.at == executor_.instructions &&
      std::equal(plan.pieces.begin(), plan.pieces.end(), lastCopy_.pieces.begin(), lastCopy_.pieces.end(), same);
  if (!isSame)
    lastCopy_ = {&warp, instruction, executor_.instructions, plan.pieces};
  return isSame;
}

bool ShadowChecker::copyIssued(Warp &warp, const Decoded &instruction, uint32_t lane, const CopyPlan &plan) {
  if (!launch_.checks.races)
    return true;
  BlockClocks &block = warp.block->shadow->clocks;
  const uint32_t thread = warp.index * kLanes + lane;
  RaceDetector::Access access;
  access.instruction = number(warp, instruction);
  if (isRepeated(warp, access.instruction, plan))
    return true;
  RaceDetector::Channel read, done;
  BlockShadow *reporting = nullptr;
  if (PhaseClock *phase = plan.mbarrier ? mbarrierAt(plan.mbarrier, &reporting) : nullptr) {
    read = done = RaceDetector::issue(block, thread, reporting->clocks, *phase);
    if (!done)
      return true;
  } else {
    read = RaceDetector::groupRead(block, thread);
    done = RaceDetector::groupDone(block, thread);
  }
  auto touch = [&](const uint8_t *host, uint32_t bytes, bool isWrite) {
    uint32_t offset = 0;
    BlockShadow *owner = sharedAt(host, offset);
    access.address = owner ? offset : reinterpret_cast<uint64_t>(host) - executor_.hostBias;
    access.bytes = bytes;
    access.isWrite = isWrite;
    access.channel = isWrite ? done : read;
    access.order = {};
    // Each element of a reduction is added by itself, as atomics do it.
    access.order.strong = access.order.wide = isWrite && plan.op >= ElementOp::Add && plan.op <= ElementOp::Xor;
    return remember(warp, lane, owner ? &owner->clocks : nullptr, access);
  };
  for (const CopyPiece &piece : plan.pieces)
    if ((piece.from && !plan.isRead && !touch(piece.from, piece.bytes, false)) || !touch(piece.to, piece.bytes, true))
      return false;
  return true;
}

void ShadowChecker::commitBulkGroup(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::commitGroup(warp.block->shadow->clocks,
                              warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)));
}
void ShadowChecker::waitBulkGroup(Warp &warp, uint32_t mask, uint32_t keep, bool readOnly) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::waitGroup(warp.block->shadow->clocks,
                            warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)), keep, readOnly);
}
void ShadowChecker::proxyFence(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::proxyFence(
        warp.block->shadow->clocks.threads[warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest))]);
}

PhaseClock *ShadowChecker::mbarrierAt(const void *object, BlockShadow **owner) {
  uint32_t offset;
  BlockShadow *shadow = sharedAt(object, offset);
  if (owner)
    *owner = shadow;
  return shadow ? &shadow->clocks.mbarriers[offset] : nullptr;
}
void ShadowChecker::arriveAtMbarrier(Warp &warp, uint32_t lane, const void *object, bool completes) {
  BlockShadow *owner;
  PhaseClock *barrier = mbarrierAt(object, &owner);
  if (!barrier)
    return;
  RaceDetector::arrive(warp.block->shadow->clocks, warp.index * kLanes + lane, *barrier);
  if (completes)
    RaceDetector::completePhase(owner->clocks, *barrier);
}
void ShadowChecker::completeMbarrier(const void *object) {
  BlockShadow *owner;
  if (PhaseClock *barrier = mbarrierAt(object, &owner))
    RaceDetector::completePhase(owner->clocks, *barrier);
}
void ShadowChecker::passMbarrier(Warp &warp, uint32_t lane, const void *object) {
  if (PhaseClock *barrier = mbarrierAt(object))
    RaceDetector::learn(warp.block->shadow->clocks, warp.index * kLanes + lane, *barrier);
}

} // namespace tenon::emulator
