// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan for a call of a function with blocks, where nothing that the device computes decides which blocks run: the
// blocks that the host would run one after the other, as one list of commands. Such a call is like one of a function
// without blocks: a graph, on any stream, in a capture, in a queue.
//
//   loop of three rounds        block 0, 1, 1, 1, 2
//   their commands              behind each other, with the constants that each round has
//   their transients            one arena, in which those that are never alive together share bytes
#pragma once

#include "runtime/program/plan/function_plan.h"

namespace tenon::runtime {

/// Whether no block reads back what a device computed, loads or stores globals, or has expectations.
bool isDecidedByHost(const abi::fb::Function &function);

/// How large an unrolled plan may become: hazards are looked for among all pairs of commands.
struct UnrollLimits {
  size_t blocks = 2048, commands = 512;
};

/// @param function with blocks, decided by the host
/// @param inputs checked (checkInputs)
/// @return null: it passes the limits. Errors as of makeCallPlan; a block that is not reached is not looked at.
Result<std::shared_ptr<const CallPlan>> makeUnrolledPlan(const abi::fb::Function &function,
                                                         std::span<const Value> inputs, const PlanSources &sources,
                                                         const UnrollLimits &limits = {});

} // namespace tenon::runtime
