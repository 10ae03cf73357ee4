// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check `barriers`: what a barrier of a block (bar, barrier.aligned) asks of those who come to it. The machine here
// counts threads and lets them go, as devices since sm_70 do, so that mistakes would go unseen:
//
// - Part of a warp comes, or its lanes come to different places: `bar` is a promise that the warp executes it together.
// - Without a count, all threads of the block have to come to the same place. Who has exited before does not count; but
//   who passed the barrier by and then exited does. An early `return` and a barrier in one arm of an `if` look alike at
//   the end, so what is asked is where a thread that left stood last: at a place to which the barrier leads, it had
//   gone around it.
// - A count has to be the same for all, no more than the block has, and no less than come.
#include "emulator/machine/fault.h"
#include "emulator/machine/lanes.h"
#include "emulator/schedule/scheduler.h"

#include <cuda.h>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

std::string threadsText(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " thread" : " threads");
}

std::string placeOf(const FunctionCode &code, uint32_t pc) {
  return placeName(code, code.code[pc].instruction);
}

std::string triple(const Dim3 &id) {
  return "(" + std::to_string(id.x) + "," + std::to_string(id.y) + "," + std::to_string(id.z) + ")";
}

} // namespace

bool Scheduler::checkArrival(GroupRun &run, const Decoded &i, uint32_t active, uint32_t id, uint32_t needed) {
  Warp &warp = run.warp;
  const Block &block = *warp.block;
  const BarrierState &barrier = block.barriers[id];
  auto fail = [&](uint32_t lane, const std::string &what) {
    raiseFault(warp, i, lane, CUDA_ERROR_LAUNCH_FAILED, "[barriers] " + what);
    return false;
  };
  const uint32_t first = static_cast<uint32_t>(__builtin_ctz(active)),
                 most = (block.threads + kLanes - 1) / kLanes * kLanes;
  if (const uint32_t without = run.mask & ~active; i.imm && without)
    return fail(static_cast<uint32_t>(__builtin_ctz(without)),
                "this thread's predicate leaves out a barrier that its warp has to execute together");
  if (needed > most)
    return fail(first, "a barrier for " + threadsText(needed) + ", the block has " + std::to_string(block.threads));
  if (i.b != kNoOperand) {
    const uint32_t *counts = at<uint32_t>(warp, i.b);
    for (uint32_t rest = active; rest; rest &= rest - 1)
      if (const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest)); counts[lane] != needed)
        return fail(lane, "the lanes of a warp give barrier " + std::to_string(id) + " different counts");
  }
  if (barrier.arrived && barrier.needed != needed) {
    auto say = [](uint32_t count) { return count ? "for " + threadsText(count) : std::string("for the whole block"); };
    return fail(first, "barrier " + std::to_string(id) + " is " + say(needed) + " here, those who came before wait " +
                           say(barrier.needed));
  }
  return true;
}

bool Scheduler::checkRelease(Block &block, uint8_t id, const BarrierState &state) {
  const std::string name = "barrier " + std::to_string(id);
  const Group *one = nullptr; // the first that waits; all should be at its place
  Warp *ofOne = nullptr;
  auto fail = [&](Warp &warp, const Group &group, uint32_t lane, const std::string &what) {
    enterFrame(warp, group.frame);
    raiseFault(warp, group.frame->code->code[group.pc], lane, CUDA_ERROR_LAUNCH_FAILED, "[barriers] " + what);
    return false;
  };
  for (Warp &warp : block.warps) {
    const Group *here = nullptr;
    uint32_t waiting = 0;
    for (const Group &group : warp.groups) {
      if (group.state != Group::State::Barrier || group.barrier != id)
        continue;
      const FunctionCode &code = *group.frame->code;
      if (!code.code[group.pc].imm) // not aligned: threads come as they like
        continue;
      const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(group.mask));
      if (here && (here->frame->code != &code || here->pc != group.pc))
        return fail(warp, group, lane,
                    "the lanes of a warp wait for " + name +
                        " at different places, which they have to execute together" + "\n  the others at " +
                        placeOf(*here->frame->code, here->pc));
      if (!state.needed && one && (one->frame->code != &code || one->pc != group.pc))
        return fail(warp, group, lane,
                    name + " of the whole block is reached at different places: __syncthreads in divergent code" +
                        "\n  by " + threadName(*ofOne, static_cast<uint32_t>(__builtin_ctz(one->mask))) + " at " +
                        placeOf(*one->frame->code, one->pc));
      here = &group;
      if (!one) {
        one = &group;
        ofOne = &warp;
      }
      waiting |= group.mask;
    }
    if (const uint32_t elsewhere = here ? warp.live & ~waiting : 0) {
      std::string where;
      for (const Group &group : warp.groups)
        if (group.mask & elsewhere)
          where = "\n  they are at " + placeOf(*group.frame->code, group.pc);
      return fail(warp, *here, static_cast<uint32_t>(__builtin_ctz(here->mask)),
                  threadsText(static_cast<uint32_t>(__builtin_popcount(elsewhere))) + " of its warp do not come to " +
                      name + ", which a warp has to execute together" + where);
    }
  }
  if (state.needed && state.arrived > state.needed && one)
    return fail(*ofOne, *one, static_cast<uint32_t>(__builtin_ctz(one->mask)),
                threadsText(state.arrived) + " came to " + name + ", which is for " + std::to_string(state.needed));
  if (state.needed || !one)
    return true;
  // The place of the barrier in the function that the kernel begins with: what left stood there too.
  const FunctionCode *entry = one->frame->code;
  uint32_t pc = one->pc;
  for (const Frame *frame = one->frame; frame->parent; frame = frame->parent) {
    entry = frame->parent->code;
    pc = frame->returnPc - 1;
  }
  for (const Departure &departure : block.departures)
    if (departure.code == entry && leadsTo(*entry, pc, departure.pc)) {
      const Warp &warp = block.warps[departure.warp];
      return fail(*ofOne, *one, static_cast<uint32_t>(__builtin_ctz(one->mask)),
                  "waits for a " + name + " of the whole block that " +
                      threadName(warp, static_cast<uint32_t>(__builtin_ctz(departure.lanes))) +
                      " went around: __syncthreads in divergent code of block " + triple(block.id) +
                      "\n  it was last seen at " + placeOf(*entry, departure.pc));
    }
  block.departures.clear();
  return true;
}

/// Where the lanes stood that exit now: what they executed since the last branch, else the branch.
void Scheduler::noteDeparture(const GroupRun &run, uint32_t active) {
  if (run.frame->parent)
    return;
  const FunctionCode &code = *run.frame->code;
  uint32_t pc = run.pc;
  if (code.code[pc].predicate == kNoOperand) {
    if (!run.from)
      return; // straight on from the beginning, or from a call: nothing was gone around
    const uint32_t at = (run.from & ~kTaken) - 1;
    const Decoded &branch = code.code[at];
    const uint32_t start = !(run.from & kTaken) ? at + 1 : branch.kind == Kind::Branch ? branch.target : run.pc;
    pc = start < run.pc ? start : at;
  }
  run.warp.block->departures.push_back({run.warp.index, active, &code, pc});
}

/// Whether control can come from behind `from` to `to`.
bool Scheduler::leadsTo(const FunctionCode &code, uint32_t from, uint32_t to) {
  std::vector<bool> &reached = reached_[{&code, from}];
  if (reached.empty()) {
    reached.resize(code.code.size() + 1);
    std::vector<uint32_t> open = {from + 1};
    auto visit = [&](uint32_t pc) {
      if (pc < code.code.size() && !reached[pc])
        open.push_back(pc);
    };
    while (!open.empty()) {
      const uint32_t pc = open.back();
      open.pop_back();
      if (pc >= code.code.size() || reached[pc])
        continue;
      reached[pc] = true;
      const Decoded &i = code.code[pc];
      bool fallsThrough = true;
      if (i.kind == Kind::Branch) {
        visit(i.target);
        fallsThrough = i.predicate != kNoOperand;
      } else if (i.kind == Kind::BranchIndexed) {
        for (int64_t k = 0; k < i.imm; ++k)
          visit(code.operands[i.list + static_cast<uint32_t>(k)]);
        fallsThrough = i.predicate != kNoOperand;
      } else if (i.kind == Kind::Exit || i.kind == Kind::Return) {
        fallsThrough = i.predicate != kNoOperand;
      }
      if (fallsThrough)
        visit(pc + 1);
    }
  }
  return reached[to];
}

} // namespace tenon::emulator
