// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan and what it has become on each stream. Private to runtime/program.
#pragma once

#include "runtime/program/call_instance.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace tenon::runtime {

struct PlannedCall {
  struct OnStream {
    uint64_t stream = 0;
    std::unique_ptr<CallInstance> instance;
  };
  explicit PlannedCall(std::shared_ptr<const CallPlan> plan) : plan(std::move(plan)) {}

  const std::shared_ptr<const CallPlan> plan;
  uint64_t lastUse = 0;                  // of Program::clock_
  std::atomic<bool> isUsedAgain = false; // of a block: not the first call, of any thread
  std::mutex mutex;                      // guards what follows, and is held while work is given to a stream
  std::vector<OnStream> instances;       // the last used first
  std::vector<std::unique_ptr<CallInstance>> captured; // parts of the caller's graphs
};

} // namespace tenon::runtime
