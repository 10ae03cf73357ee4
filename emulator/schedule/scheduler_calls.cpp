// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: which lanes enter a function, and the copies of parameters and results between the local memory of caller and
// callee.
#include "emulator/machine/fault.h"
#include "emulator/machine/lanes.h"
#include "emulator/schedule/scheduler.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

/// Copies one parameter or result of each of the `lanes` between two frames: offsets in local memory.
void copySlots(Warp &warp, uint32_t lanes, uint32_t to, uint32_t from, uint32_t bytes) {
  auto each = [&](auto copy) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      uint8_t *local = warp.local + static_cast<uint64_t>(__builtin_ctz(rest)) * warp.localStride;
      copy(local + to, local + from);
    }
  };
  if (bytes == 4) // nearly all: not a call of memcpy
    each([](uint8_t *d, const uint8_t *s) { memcpy(d, s, 4); });
  else if (bytes == 8)
    each([](uint8_t *d, const uint8_t *s) { memcpy(d, s, 8); });
  else
    each([&](uint8_t *d, const uint8_t *s) { memcpy(d, s, bytes); });
}

} // namespace

bool Scheduler::call(GroupRun &run, const Decoded &i, uint32_t active) {
  if (!active) {
    ++run.pc;
    return true;
  }
  Warp &warp = run.warp;
  const CallSite &site = run.frame->code->callSites[i.target];
  const FunctionCode *callee = site.callee;
  uint32_t lanes = active;
  if (site.pointer != kNoOperand) {
    const uint64_t *pointer = at<uint64_t>(warp, site.pointer);
    uint32_t first = static_cast<uint32_t>(__builtin_ctz(active));
    auto found = executor_.launch->kernel->byAddress.find(pointer[first]);
    if (found == executor_.launch->kernel->byAddress.end()) {
      raiseFault(warp, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION, "indirect call of a value that is no function");
      return false;
    }
    callee = found->second;
    lanes = 0;
    for (uint32_t l = 0; l < kLanes; ++l)
      lanes |= static_cast<uint32_t>((active >> l & 1) && pointer[l] == pointer[first]) << l;
    if (callee->parameters.size() != site.arguments.size() || callee->results.size() != site.results.size()) {
      raiseFault(warp, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 "indirect call of '" + std::string(callee->function->name) + "' with " +
                     std::to_string(site.arguments.size()) + " arguments, it takes " +
                     std::to_string(callee->parameters.size()));
      return false;
    }
  }
  if (!callee) {
    callBuiltin(warp, i, site, active, services_);
    ++run.pc;
    return !executor_.failed();
  }
  if (uint32_t rest = active & ~lanes)
    run.split(rest, run.pc, run.frame);
  if (uint32_t skipped = run.mask & ~active)
    run.split(skipped, run.pc + 1, run.frame);
  Frame *frame = frames_.enter(warp, callee, run.frame, i.target, run.pc + 1, lanes);
  if (!frame) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(lanes)), CUDA_ERROR_OUT_OF_MEMORY,
               "no memory for the registers of a call");
    return false;
  }
  if (frame->localBase + callee->localBytes > warp.localStride) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(lanes)), CUDA_ERROR_LAUNCH_FAILED,
               "stack overflow: " + std::to_string(frame->depth) + " calls deep, " + std::to_string(warp.localStride) +
                   " bytes per thread (cuCtxSetLimit with CU_LIMIT_STACK_SIZE)");
    frames_.leave(frame, lanes); // no group of the warp stands in it
    return false;
  }
  for (size_t k = 0; k < site.arguments.size(); ++k)
    copySlots(warp, lanes, frame->localBase + callee->parameters[k].offset,
              run.frame->localBase + site.arguments[k].offset,
              std::min(callee->parameters[k].bytes, site.arguments[k].bytes));
  run.mask = lanes;
  run.frame = frame;
  run.from = 0;
  run.pc = 0;
  run.save();
  return false;
}

bool Scheduler::leave(GroupRun &run, const Decoded &i, uint32_t active) {
  if (!run.frame->parent)
    return exit(run, i, active);
  if (!active) {
    ++run.pc;
    return true;
  }
  Frame *frame = run.frame, *parent = frame->parent;
  const CallSite &site = parent->code->callSites[frame->callSite];
  for (size_t k = 0; k < site.results.size(); ++k)
    copySlots(run.warp, active, parent->localBase + site.results[k].offset,
              frame->localBase + frame->code->results[k].offset,
              std::min(frame->code->results[k].bytes, site.results[k].bytes));
  if (uint32_t staying = run.mask & ~active)
    run.split(staying, run.pc + 1, frame);
  run.mask = active;
  run.from = 0;
  run.pc = frame->returnPc;
  run.frame = parent;
  run.save();
  frames_.leave(frame, active);
  return false;
}

} // namespace tenon::emulator
