// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that are ended from outside (machine/run_control.h), and the report of where every warp stood then.
#include "emulator/machine/fault.h"
#include "emulator/machine/run_control.h"
#include "emulator/schedule/scheduler.h"
#include "support/text/demangle.h"

#include <cuda.h>
#include <map>

namespace tenon::emulator {
namespace {

constexpr size_t kMostPlaces = 16, kMostWarps = 8;

std::string stateText(const Group &group) {
  switch (group.state) {
  case Group::State::Run:
    return "runs";
  case Group::State::Barrier:
    return "waits for the others";
  case Group::State::WarpSync:
    return "waits for lanes";
  }
  return "";
}

} // namespace

bool Scheduler::isStopped() {
  if (grid_.stopped())
    return true;
  if (!launch_.control)
    return false;
  if (launch_.control->isInterrupted.load(std::memory_order_relaxed)) {
    reportStop("was interrupted");
  } else if (launch_.control->timeoutSeconds > 0 && std::chrono::steady_clock::now() >= deadline_) {
    std::string seconds = std::to_string(launch_.control->timeoutSeconds);
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.back() == '.')
      seconds.pop_back();
    reportStop("has not ended after " + seconds + " s (TENON_EMULATOR_TIMEOUT)");
  }
  return executor_.failed();
}

/// One paragraph for each place of the kernel where a warp stands.
void Scheduler::reportStop(const std::string &why) {
  struct Place {
    std::vector<std::string> warps;
    size_t count = 0;
  };
  std::map<std::pair<std::string, std::string>, Place> places; // by place and state
  uint64_t blocks = 0;
  for (const auto &cluster : resident_)
    for (const auto &block : cluster->blocks) {
      if (block->finished)
        continue;
      ++blocks;
      const std::string of = " of block (" + std::to_string(block->id.x) + "," + std::to_string(block->id.y) + "," +
                             std::to_string(block->id.z) + ")";
      for (const Warp &warp : block->warps)
        for (const Group &group : warp.groups) {
          const FunctionCode &code = *group.frame->code;
          Place &place = places[{placeName(code, code.code[group.pc].instruction), stateText(group)}];
          const bool isWhole = group.mask == warp.live && warp.groups.size() == 1;
          if (++place.count <= kMostWarps)
            place.warps.push_back(
                "warp " + std::to_string(warp.index) + of +
                (isWhole ? std::string() : " (" + std::to_string(__builtin_popcount(group.mask)) + " of its lanes)"));
        }
    }
  std::string text = "kernel '" + readableName(launch_.kernel->name) + "' " + why + "; " + std::to_string(blocks) +
                     (blocks == 1 ? " block was" : " blocks were") + " under way, " +
                     std::to_string(grid_.finished() + finished_) + " of " +
                     std::to_string(launch_.grid.count() / launch_.cluster.count()) +
                     (launch_.cluster.count() > 1 ? " clusters" : " blocks") + " had ended";
  size_t shown = 0;
  for (const auto &[place, warps] : places) {
    if (shown++ == kMostPlaces) {
      text += "\n  and " + std::to_string(places.size() - kMostPlaces) + " other places";
      break;
    }
    text += "\n  ";
    for (size_t k = 0; k < warps.warps.size(); ++k)
      text += (k ? ", " : "") + warps.warps[k];
    if (warps.count > kMostWarps)
      text += " and " + std::to_string(warps.count - kMostWarps) + " more";
    text += ": " + place.second + " at\n    " + place.first;
  }
  if (!executor_.failed())
    executor_.fault = {CUDA_ERROR_LAUNCH_TIMEOUT, text};
}

} // namespace tenon::emulator
