// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop of the interpreter and control flow. Blocks, barriers and calls are in scheduler_*.cpp.
#include "emulator/schedule/scheduler.h"

#include "emulator/machine/fault.h"
#include "emulator/machine/lanes.h"
#include "emulator/memory/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cuda.h>

namespace tenon::emulator {
namespace {

constexpr uint32_t kTurnsBeforeRotation = 64;
constexpr uint32_t kFuel = 4096, kSpinningFuel = 64;

using TENON_LEVEL::at;

/// The lanes of `mask` that the instruction's predicate lets through.
inline uint32_t activeLanes(Warp &warp, const Decoded &i, uint32_t mask) {
  if (i.predicate == kNoOperand)
    return mask;
  uint32_t predicate = *at<uint32_t>(warp, i.predicate);
  return mask & (i.predicateNegated ? ~predicate : predicate);
}

} // namespace

void Scheduler::enterFrame(Warp &warp, Frame *frame) {
  warp.frame = frame;
  warp.bases[kRegisterBase] = frame->registers;
}

void Scheduler::mergeGroups(Warp &warp) {
  std::vector<Group> &groups = warp.groups;
  for (size_t i = 0; i < groups.size(); ++i)
    for (size_t j = i + 1; j < groups.size();) {
      Group &a = groups[i], &b = groups[j];
      if (a.frame != b.frame || a.pc != b.pc || a.state == Group::State::Barrier || b.state == Group::State::Barrier) {
        ++j;
        continue;
      }
      a.mask |= b.mask;
      a.age = std::min(a.age, b.age);
      a.state = Group::State::Run; // more lanes at a .sync instruction: look again
      groups.erase(groups.begin() + static_cast<ptrdiff_t>(j));
    }
}

size_t Scheduler::pickGroup(const Warp &warp) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < warp.groups.size(); ++i) {
    const Group &g = warp.groups[i];
    if (g.state != Group::State::Run)
      continue;
    if (best == SIZE_MAX) {
      best = i;
      continue;
    }
    const Group &b = warp.groups[best];
    if (g.age != b.age                     ? g.age < b.age
        : g.frame->depth != b.frame->depth ? g.frame->depth > b.frame->depth
                                           : g.pc < b.pc)
      best = i;
  }
  return best;
}

uint32_t Scheduler::nextMeeting(const Warp &warp, size_t index) {
  const Group &g = warp.groups[index];
  uint32_t next = UINT32_MAX;
  for (const Group &other : warp.groups)
    if (&other != &g && other.frame == g.frame && other.pc > g.pc && other.state != Group::State::Barrier)
      next = std::min(next, other.pc);
  return next;
}

bool Scheduler::runWarp(Warp &warp) {
  bool progress = false;
  uint32_t fuel = spinning_ ? kSpinningFuel : kFuel, turns = 0;
  for (;;) {
    if (warp.groups.size() > 1)
      mergeGroups(warp);
    size_t index = pickGroup(warp);
    if (index == SIZE_MAX || executor_.failed())
      return progress;
    progress = true;
    runGroup(warp, index, nextMeeting(warp, index), fuel, turns);
    if (warp.block->spun || warp.block->yielded)
      return true;
  }
}

/// A run of instructions that only compute.
void Scheduler::execute(Warp &warp, const Decoded *i, const Decoded *end, uint32_t mask) {
  const int &fault = executor_.fault.code;
  for (; i != end; ++i) {
    uint32_t active = activeLanes(warp, *i, mask);
    if (!active)
      continue;
    i->handler(warp, *i, active);
    if (fault) [[unlikely]]
      return;
  }
}

void Scheduler::runGroup(Warp &warp, size_t index, uint32_t stop, uint32_t &fuel, uint32_t &turns) {
  Group &start = warp.groups[index];
  GroupRun run{warp, index, start.mask, start.pc, start.frame, fuel, turns, start.from};
  enterFrame(warp, run.frame);
  const Decoded *code = run.frame->code->code.data();
  const uint64_t lanes = static_cast<uint64_t>(__builtin_popcount(run.mask));
  for (;;) {
    if (uint32_t length = std::min(code[run.pc].run, stop - run.pc)) {
      const Decoded *begin = code + run.pc, *end = begin + length;
      executor_.runBegin = begin;
      execute(warp, begin, end, run.mask);
      executor_.instructions += length;
      // Of the PTX: decoding leaves some out.
      uint32_t first = run.pc == 0 ? 0 : begin->instruction;
      executor_.threadInstructions += (end->instruction - first) * lanes;
      if (executor_.failed())
        return;
      run.pc += length;
      if (run.pc >= stop) {
        run.save();
        return;
      }
    }
    const Decoded &i = code[run.pc];
    executor_.runBegin = &i;
    ++executor_.instructions;
    executor_.threadInstructions += lanes;
    uint32_t active = activeLanes(warp, i, run.mask);
    bool goesOn = true;
    switch (i.kind) {
    case Kind::Alu:
    case Kind::Checked:
      break; // part of a run
    case Kind::Branch:
      goesOn = branch(run, i, active);
      break;
    case Kind::BranchIndexed:
      goesOn = branchIndexed(run, i, active);
      break;
    case Kind::Call:
      goesOn = call(run, i, active);
      break;
    case Kind::Return:
      goesOn = leave(run, i, active);
      break;
    case Kind::Exit:
      goesOn = exit(run, i, active);
      break;
    case Kind::Barrier:
      goesOn = arrive(run, i, active);
      break;
    case Kind::ClusterWait:
      goesOn = waitCluster(run, i, active);
      break;
    case Kind::WarpSync:
    case Kind::WarpSyncAny:
      goesOn = synchronise(run, i, active);
      break;
    }
    if (!goesOn)
      return;
    if (run.pc >= stop) {
      run.save();
      return;
    }
  }
}

/// All lanes go to `target`. A backward branch costs fuel; with other groups about, one is picked again, because the
/// group may now stand before one of them.
bool Scheduler::jump(GroupRun &run, uint32_t target) {
  bool backward = target <= run.pc;
  run.from = (run.pc + 1) | kTaken;
  run.pc = target;
  if (!backward)
    return true;
  if (run.warp.yields) {
    run.warp.yields = false;
    run.save();
    run.group().age = ++run.warp.clock;
    bool alone = true; // nobody else in the warp can run
    for (const Group &other : run.warp.groups)
      alone &= &other == &run.group() || other.state != Group::State::Run;
    run.warp.block->yielded = alone || ++run.turns >= kTurnsBeforeRotation;
    return false;
  }
  if (--run.fuel == 0) {
    run.save();
    run.group().age = ++run.warp.clock;
    run.warp.block->spun = true;
    return false;
  }
  if (run.warp.groups.size() == 1)
    return true;
  run.save();
  if (++run.turns >= kTurnsBeforeRotation) {
    run.turns = 0;
    run.group().age = ++run.warp.clock;
  }
  return false;
}

bool Scheduler::branch(GroupRun &run, const Decoded &i, uint32_t active) {
  if (active == run.mask)
    return jump(run, i.target);
  if (!active) {
    run.from = ++run.pc;
    return true;
  }
  run.split(active, i.target, run.frame);
  run.mask &= ~active;
  run.from = ++run.pc;
  run.save();
  if (i.target < run.pc && --run.fuel == 0)
    run.warp.block->spun = true;
  return false;
}

/// brx.idx: `a` the index, `list` the table, `imm` its length.
bool Scheduler::branchIndexed(GroupRun &run, const Decoded &i, uint32_t active) {
  if (!active) {
    ++run.pc;
    return true;
  }
  const uint32_t *index = at<uint32_t>(run.warp, i.a);
  const uint32_t *table = run.frame->code->operands.data() + i.list;
  uint32_t first = static_cast<uint32_t>(__builtin_ctz(active));
  if (index[first] >= static_cast<uint64_t>(i.imm)) {
    raiseFault(run.warp, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "brx.idx with index " + std::to_string(index[first]) + " of a table of " + std::to_string(i.imm));
    return false;
  }
  uint32_t same = 0;
  for (uint32_t l = 0; l < kLanes; ++l)
    same |= static_cast<uint32_t>((active >> l & 1) && index[l] == index[first]) << l;
  if (same == run.mask)
    return jump(run, table[index[first]]);
  if (uint32_t rest = active & ~same) // other targets: the same instruction again
    run.split(rest, run.pc, run.frame);
  if (uint32_t skipped = run.mask & ~active)
    run.split(skipped, run.pc + 1, run.frame);
  run.mask = same;
  uint32_t from = run.pc;
  run.from = (from + 1) | kTaken;
  run.pc = table[index[first]];
  run.save();
  if (run.pc <= from && --run.fuel == 0)
    run.warp.block->spun = true;
  return false;
}

bool Scheduler::exit(GroupRun &run, const Decoded &, uint32_t active) {
  if (!active) {
    ++run.pc;
    return true;
  }
  Warp &warp = run.warp;
  if (launch_.checks.barriers)
    noteDeparture(run, active);
  for (Frame *frame = run.frame; frame;) {
    Frame *parent = frame->parent;
    frames_.leave(frame, active);
    frame = parent;
  }
  warp.live &= ~active;
  warp.block->exited += static_cast<uint32_t>(__builtin_popcount(active));
  for (Group &group : warp.groups) // who waits for these lanes looks again
    if (group.state == Group::State::WarpSync)
      group.state = Group::State::Run;
  if (active == run.mask) {
    warp.groups.erase(warp.groups.begin() + static_cast<ptrdiff_t>(run.index));
    return false;
  }
  run.mask &= ~active;
  ++run.pc;
  run.save();
  return false;
}

/// shfl.sync and its like, bar.warp.sync: lanes with the same member mask go on together when all of them that live are
/// here. Lanes of one instruction may hold different masks (tiles of a warp): each set for itself.
bool Scheduler::synchronise(GroupRun &run, const Decoded &i, uint32_t active) {
  Warp &warp = run.warp;
  const uint32_t *members = at<uint32_t>(warp, i.e);
  if (active == kAllLanes) { // nearly always: the whole warp, together
    uint32_t absent = 0;
    for (uint32_t l = 0; l < kLanes; ++l)
      absent |= ~members[l];
    if (absent == 0) {
      if (checker_ && i.kind == Kind::WarpSync)
        checker_->passOn(warp, active);
      i.handler(warp, i, active);
      ++run.pc;
      return !executor_.failed();
    }
  }
  uint32_t pending = active, done = 0;
  while (pending) {
    uint32_t first = static_cast<uint32_t>(__builtin_ctz(pending)), mask = members[first], same = 0;
    for (uint32_t l = 0; l < kLanes; ++l)
      same |= static_cast<uint32_t>((pending >> l & 1) && members[l] == mask) << l;
    pending &= ~same;
    if (uint32_t outside = same & ~mask) {
      first = static_cast<uint32_t>(__builtin_ctz(outside));
      char text[16];
      snprintf(text, sizeof text, "0x%08x", mask);
      raiseFault(warp, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 "the member mask " + std::string(text) + " does not hold lane " + std::to_string(first) +
                     ", which executes it");
      return false;
    }
    uint32_t need = mask & warp.live, have = same;
    if (i.kind == Kind::WarpSyncAny)
      for (const Group &group : warp.groups)
        if (group.state == Group::State::WarpSync && group.waitMask == mask && &group != &run.group() &&
            group.frame->code->code[group.pc].kind == Kind::WarpSyncAny)
          have |= group.mask;
    if ((have & need) == need) {
      if (checker_ && i.kind == Kind::WarpSync)
        checker_->passOn(warp, same);
      i.handler(warp, i, i.kind == Kind::WarpSyncAny ? have : same);
      if (executor_.failed())
        return false;
      done |= same;
      if (i.kind == Kind::WarpSyncAny)
        for (Group &group : warp.groups)
          if (group.state == Group::State::WarpSync && group.waitMask == mask && &group != &run.group() &&
              group.frame->code->code[group.pc].kind == Kind::WarpSyncAny) {
            group.state = Group::State::Run;
            ++group.pc;
          }
    }
  }
  if (done == run.mask) {
    ++run.pc;
    if (warp.groups.size() == 1)
      return true;
    run.save();
    return false;
  }
  uint32_t waiting = active & ~done, going = run.mask & ~waiting;
  if (going && waiting)
    run.split(going, run.pc + 1, run.frame);
  if (!waiting) {
    ++run.pc;
    run.save();
    return false;
  }
  // One waiting group per member mask.
  uint32_t first = static_cast<uint32_t>(__builtin_ctz(waiting)), mask = members[first], same = 0;
  for (uint32_t l = 0; l < kLanes; ++l)
    same |= static_cast<uint32_t>((waiting >> l & 1) && members[l] == mask) << l;
  run.mask = waiting;
  run.save();
  run.group().state = Group::State::WarpSync;
  run.group().waitMask = same == waiting ? mask : 0;
  return false;
}

} // namespace tenon::emulator
