// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of the scheduler: bar, barrier.cluster.wait; and what is said when nobody comes.
#include "emulator/machine/fault.h"
#include "emulator/machine/lanes.h"
#include "emulator/schedule/scheduler.h"

#include "support/text/demangle.h"

#include <algorithm>
#include <cuda.h>
#include <map>
#include <string>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

/// True when every live thread of the cluster had arrived: then all of them have left the phase.
bool completeClusterBarrier(Cluster &cluster) {
  uint32_t arrived = 0, missing = 0;
  for (const auto &block : cluster.blocks)
    for (const Warp &warp : block->warps) {
      arrived |= warp.clusterPending & warp.live;
      missing |= ~warp.clusterPending & warp.live;
    }
  if (!arrived || missing)
    return false;
  for (const auto &block : cluster.blocks)
    for (Warp &warp : block->warps)
      warp.clusterPending = 0;
  return true;
}

} // namespace

/// bar.sync, bar.arrive, bar.red: `a` the barrier, `b` the thread count (optional), `c` the predicate of bar.red.
bool Scheduler::arrive(GroupRun &run, const Decoded &i, uint32_t active) {
  if (!active) {
    if (launch_.checks.barriers && i.imm && !run.frame->parent) // a predicate leads around it
      run.warp.block->departures.push_back({run.warp.index, run.mask, run.frame->code, run.pc + 1});
    ++run.pc;
    return true;
  }
  Warp &warp = run.warp;
  uint32_t first = static_cast<uint32_t>(__builtin_ctz(active));
  uint32_t id = at<uint32_t>(warp, i.a)[first], needed = i.b == kNoOperand ? 0 : at<uint32_t>(warp, i.b)[first];
  if (id >= 16 || needed % kLanes != 0) {
    raiseFault(warp, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION,
               id >= 16
                   ? "barrier " + std::to_string(id) + " does not exist, there are 0 to 15"
                   : "a barrier for " + std::to_string(needed) + " threads, which is not a multiple of the warp size");
    return false;
  }
  if (launch_.checks.barriers && !checkArrival(run, i, active, id, needed))
    return false;
  usedBarriers_ |= 1u << id;
  BarrierState &barrier = warp.block->barriers[id];
  barrier.arrived += static_cast<uint32_t>(__builtin_popcount(active));
  // A count is of whole warps: lanes that are not there, or have exited, come with the others.
  if (needed && (active & (0u - warp.live) & warp.live))
    barrier.arrived += kLanes - static_cast<uint32_t>(__builtin_popcount(warp.live));
  barrier.needed = std::max(barrier.needed, needed);
  if (checker_)
    checker_->arriveAtBarrier(warp, active, id);
  BarrierKind kind = static_cast<BarrierKind>(i.flag & 0xf);
  if (kind >= BarrierKind::Popc) {
    uint32_t votes = *at<uint32_t>(warp, i.c);
    if (i.flag & kThirdNegated)
      votes = ~votes;
    barrier.trueVotes += static_cast<uint32_t>(__builtin_popcount(votes & active));
  }
  if (kind == BarrierKind::Arrive) {
    ++run.pc;
    // With a count the barrier is complete now: who arrives next means its next phase.
    if (barrier.arrived < barrier.needed)
      return true;
    run.save();
    releaseBarrier(*warp.block, static_cast<uint8_t>(id));
    return false;
  }
  if (uint32_t rest = run.mask & ~active)
    run.split(rest, run.pc + 1, run.frame);
  run.mask = active;
  run.save();
  run.group().state = Group::State::Barrier;
  run.group().barrier = static_cast<uint8_t>(id);
  if (needed && barrier.arrived >= barrier.needed)
    releaseBarrier(*warp.block, static_cast<uint8_t>(id));
  return false;
}

void Scheduler::completeBarrier(Warp &warp, Group &group, const BarrierState &state) {
  enterFrame(warp, group.frame);
  const Decoded &i = group.frame->code->code[group.pc];
  switch (static_cast<BarrierKind>(i.flag & 0xf)) {
  case BarrierKind::Sync:
  case BarrierKind::Arrive:
    break;
  case BarrierKind::Popc: {
    uint32_t *d = at<uint32_t>(warp, i.d);
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = (group.mask >> l & 1) ? state.trueVotes : d[l];
    break;
  }
  case BarrierKind::And:
  case BarrierKind::Or: {
    bool holds = (i.flag & 0xf) == static_cast<uint8_t>(BarrierKind::And) ? state.trueVotes == state.arrived
                                                                          : state.trueVotes != 0;
    uint32_t *d = at<uint32_t>(warp, i.d);
    *d = holds ? *d | group.mask : *d & ~group.mask;
    break;
  }
  }
  group.state = Group::State::Run;
  ++group.pc;
}

/// True: the barrier was complete, and is released.
bool Scheduler::releaseBarrier(Block &block, uint8_t id) {
  BarrierState &barrier = block.barriers[id];
  uint32_t needed = barrier.needed ? barrier.needed : block.threads - block.exited;
  if (barrier.arrived == 0 || barrier.arrived < needed)
    return false;
  BarrierState state = barrier;
  barrier = {};
  if (launch_.checks.barriers && !checkRelease(block, id, state))
    return false;
  if (checker_)
    checker_->completeBarrier(block, id);
  for (Warp &warp : block.warps)
    for (Group &group : warp.groups)
      if (group.state == Group::State::Barrier && group.barrier == id) {
        if (checker_)
          checker_->leaveBarrier(warp, group.mask, id);
        completeBarrier(warp, group, state);
      }
  return true;
}

bool Scheduler::releaseBarriers(Block &block) {
  bool released = false;
  for (uint32_t rest = usedBarriers_; rest && !executor_.failed(); rest &= rest - 1)
    released |= releaseBarrier(block, static_cast<uint8_t>(__builtin_ctz(rest)));
  return released;
}

/// barrier.cluster.wait: the lanes stand until their phase is complete.
bool Scheduler::waitCluster(GroupRun &run, const Decoded &i, uint32_t active) {
  if (!active) {
    ++run.pc;
    return true;
  }
  Warp &warp = run.warp;
  if (uint32_t never = active & ~warp.clusterArrived) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(never)), CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "barrier.cluster.wait without barrier.cluster.arrive before it");
    return false;
  }
  if (uint32_t rest = run.mask & ~active)
    run.split(rest, run.pc + 1, run.frame);
  run.mask = active;
  run.save();
  run.group().state = Group::State::Barrier;
  run.group().barrier = kClusterBarrier;
  return false;
}

bool Scheduler::releaseCluster(Cluster &cluster) {
  if (completeClusterBarrier(cluster) && checker_)
    checker_->completeCluster(cluster);
  bool released = false;
  for (auto &block : cluster.blocks)
    for (Warp &warp : block->warps)
      for (Group &group : warp.groups)
        if (group.state == Group::State::Barrier && group.barrier == kClusterBarrier &&
            !(group.mask & warp.clusterPending)) {
          warp.clusterArrived &= ~group.mask;
          if (checker_)
            checker_->leaveCluster(warp, group.mask);
          group.state = Group::State::Run;
          ++group.pc;
          released = true;
        }
  return released;
}

void Scheduler::reportDeadlock(const Cluster &cluster) {
  auto triple = [](const Dim3 &id) {
    return "(" + std::to_string(id.x) + "," + std::to_string(id.y) + "," + std::to_string(id.z) + ")";
  };
  std::string text = "kernel '" + readableName(launch_.kernel->name) + "': deadlock in ";
  if (cluster.blocks.size() == 1)
    text += "block " + triple(cluster.blocks[0]->id);
  else
    text += "the cluster of blocks " + triple(cluster.blocks.front()->id) + " to " + triple(cluster.blocks.back()->id);
  text += ": no thread can go on";
  // One line per place, with how many threads stand there.
  std::map<std::string, uint32_t> places;
  uint32_t exited = 0, threads = 0;
  for (const auto &block : cluster.blocks) {
    for (const Warp &warp : block->warps)
      for (const Group &group : warp.groups)
        places[placeName(*group.frame->code, group.frame->code->code[group.pc].instruction)] +=
            static_cast<uint32_t>(__builtin_popcount(group.mask));
    exited += block->exited;
    threads += block->threads;
  }
  for (auto &[place, waiting] : places)
    text += "\n  " + std::to_string(waiting) + (waiting == 1 ? " thread waits at " : " threads wait at ") + place;
  text += "\n  " + std::to_string(exited) + " of " + std::to_string(threads) + " threads have exited";
  executor_.fault = {CUDA_ERROR_LAUNCH_TIMEOUT, text};
}

} // namespace tenon::emulator
