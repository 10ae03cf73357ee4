// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan for a call of a function without blocks, or of one block.
#pragma once

#include "runtime/program/plan/call_plan.h"

namespace tenon::runtime {

/// A constant as the file has it: `bytes`, as often as it takes for `size`.
struct ConstantBytes {
  std::span<const uint8_t> bytes;
  uint64_t size = 0;
};

/// What the plan needs of the program.
struct PlanSources {
  std::span<const std::unique_ptr<Executable>> executables; // loaded by the plan as it needs them
  std::span<const ConstantBytes> constants;
};

/// A caller may write what he was given, so that a constant which a function returns is copied; a block hands it on.
enum class ResultTaker : uint8_t { Caller, NextBlock };

/// @param inputs checked (checkInputs)
/// Errors of registers, checks, loading, ranges and grids; nothing was launched.
/// @param ignored scalars that the key leaves out: those of planIndependentScalars
/// @param taker whose the results are
Result<std::shared_ptr<const CallPlan>> makeCallPlan(const abi::fb::Function &function, std::span<const Value> inputs,
                                                     const PlanSources &sources, const CallKey::IgnoredScalars &ignored,
                                                     ResultTaker taker);

} // namespace tenon::runtime
