// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the results of a call go: memory that the caller gave, checked, or new memory.
#pragma once

#include "runtime/program/plan/call_plan.h"

namespace tenon::runtime {

/// Memory for the results of a call, from whoever has an allocator of his own: PyTorch's, say, in the order of its
/// streams.
class ResultMemory {
public:
  virtual ~ResultMemory() = default;
  /// Memory for `bytes` bytes of the device, for result `index` of this type. Its errors are the call's.
  virtual Result<std::shared_ptr<const Buffer>> allocate(size_t index, const Tensor &type, uint64_t bytes) = 0;
  /// Whether a result that is an input, or the same memory as another result, is to lie there too: as a copy.
  virtual bool isForAll() const { return false; }
};

/// Completes `results` for a plan: every value has its type and shape, every tensor its buffer. The values that the
/// function's expectations compare come behind its results.
/// @param isOwnStream the call runs on the device's own stream: new memory is stream-ordered there
/// @param memory where new memory comes from; null: the device
/// Errors as Program::callInto says; ResourceExhausted: no memory.
Status bindResults(Device &device, const CallPlan &plan, std::span<const Value> inputs,
                   std::span<const std::shared_ptr<const Buffer>> constants, bool isOwnStream, ResultMemory *memory,
                   std::vector<Value> &results);

/// A result that the commands of a call do not write, and where its copy goes.
struct ResultCopy {
  size_t index = 0;
  std::shared_ptr<const Buffer> target;
};
/// Those that `memory` is for: it is asked for each. Errors as Program::callInto says.
/// @param results [results of the plan] as bindResults() left them
Result<std::vector<ResultCopy>> askForCopies(const Device &device, const CallPlan &plan, std::span<const Value> inputs,
                                             std::span<const Value> results, ResultMemory &memory);
/// Behind the commands of the call; the results are the copies then.
Status copyResults(const Device &device, CUstream stream, std::span<const ResultCopy> copies, std::span<Value> results);

/// The scalars among the results, of the registers of this call.
/// @param results [results of the plan] as bindResults() left them
void setScalars(const CallPlan &plan, std::span<const int64_t> registers, std::span<Value> results);

/// Whether a result of `bytes` bytes may be written to a buffer of the caller's. Errors as Program::callInto says.
Status checkGivenBuffer(const Device &device, size_t result, uint64_t bytes, const Buffer &given,
                        std::span<const Value> inputs);

} // namespace tenon::runtime
