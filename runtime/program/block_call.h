// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of Program::callBlocks, which runs a function that is a list of blocks (abi/executable_format.md, "Blocks").
//
//   block 0 (inputs) -> commands on the stream -> targets -> block 2 (values) -> ... -> results
//
// The host goes from block to block. The values that a block hands on are handles: a tensor is a buffer and a shape, so
// nothing is copied where two paths meet, and memory goes back to the stream's pool when the last handle of it is gone.
// Each block has plans and graphs of its own, as a function without branches has.
#pragma once

#include "runtime/program/plan/call_plan.h"

#include <functional>

namespace tenon::runtime {

class Device;

/// What one value of a block that is read back costs: its place in memory.
struct ReadPlace {
  std::shared_ptr<const Buffer> buffer;
  uint64_t offset = 0; // bytes, of the whole buffer
};

/// The bytes as the scalar that they are: integers sign-extended, floats zero-extended, i1 0 or 1.
int64_t scalarOf(abi::ElementType element, std::span<const uint8_t> bytes);

/// Replaces the scalars of `results`: those of the registers, and those that are read back once all earlier work of the
/// device's own stream is complete. OutOfRange: an element that is not in its buffer.
/// @param results [results of the block] as bindResults() left them
Status takeScalars(Device &device, const CallPlan &plan, std::span<const int64_t> registers,
                   std::span<const Value> inputs, std::span<const std::shared_ptr<const Buffer>> constants,
                   const std::shared_ptr<const Buffer> &arena, std::span<Value> results);

/// Why a function with blocks is not a list of commands that is known before it runs.
inline constexpr std::string_view kHostGoesAlong =
    "branches on what the device computes, uses globals or runs very many blocks, so that the host goes along";

/// Gives the values that a function returned to its caller: into the memory that `results` has, or else in memory that
/// nobody else has. Waits for nothing.
/// @param returned [results of the function]
/// @param isShared buffers that are inputs, constants or globals: what lies there is copied
/// Errors as Program::callInto says, with nothing written.
Status giveResults(Device &device, std::vector<Value> returned, std::span<const Value> inputs,
                   const std::function<bool(const Buffer &)> &isShared, std::vector<Value> &results);

} // namespace tenon::runtime
