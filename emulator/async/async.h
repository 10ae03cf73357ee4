// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies that run beside the threads: cp.async.bulk, cp.reduce.async.bulk and their tensor forms. An instruction makes
// a plan, a list of pieces to move, all of them checked; then the plan is done.
//
// When? By default at once: the earliest legal time, and the cheapest. With TENON_EMULATOR_CHECK=async at the latest
// time that the program allows: the destination holds poison until somebody's wait needs the copy, and the source is
// read then too, so that a program which forgot to wait, or overwrote the source too early, sees wrong data. A copy
// that reports to an mbarrier is done when a wait for that mbarrier would fail without it; one of a bulk group by
// cp.async.bulk.wait_group (its source is read by wait_group.read); what is left when the block exits is done then.
#pragma once

#include "emulator/machine/copy_plan.h"

#include <memory>
#include <vector>

namespace tenon::emulator {

inline constexpr uint8_t kPoison = 0xff; // NaN in every format

/// Carries out a plan, or keeps it for later. False: the mbarrier is no mbarrier, or takes no more bytes; a fault.
bool submit(Warp &warp, const Decoded &instruction, uint32_t lane, CopyPlan plan);
/// cp.async.bulk.commit_group, cp.async.bulk.wait_group{.read}: all but the last `keep` groups.
void commitBulkGroup(Warp &warp, uint32_t mask);
void waitBulkGroup(Warp &warp, uint32_t mask, uint32_t keep, bool readOnly);
/// A wait for the mbarrier failed: its copies are due. True: there were some.
bool completeCopiesOf(Warp &warp, const uint64_t *mbarrier);
/// The block is at its end.
void finishAsync(Block &block);

/// A wgmma that waits for wgmma.wait_group (wgmma.cpp). Its descriptors and its predicate were read when it was issued;
/// its registers and its shared memory are read late.
struct PendingMultiply {
  const Decoded *instruction = nullptr;
  Frame *frame = nullptr;
  uint64_t a = 0, b = 0;
  bool accumulates = false;
  std::vector<uint8_t> saved; // accumulators as they were at issue; empty: an earlier one holds them
};

/// What a warp has under way.
struct AsyncWork {
  struct Bulk {
    CopyPlan plan;
    uint32_t lane = 0;
    uint32_t group = 0; // 0: not committed, or of an mbarrier
  };
  std::vector<Bulk> copies;
  uint32_t groups[kLanes] = {}; // committed so far, by lane
  std::vector<PendingMultiply> multiplies;
  std::vector<size_t> multiplyGroups; // how many of `multiplies` each committed group ends at
};
AsyncWork &asyncWork(Warp &warp);

} // namespace tenon::emulator
