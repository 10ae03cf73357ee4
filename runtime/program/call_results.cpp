// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result's buffer by its place in the plan; what the caller gave may overlap nothing that the call reads or writes.
#include "runtime/program/call_results.h"

#include "runtime/device/device.h"
#include "runtime/memory/allocator.h"
#include "runtime/program/plan/function_data.h"

namespace tenon::runtime {

namespace {

bool overlap(const Buffer &a, uint64_t aBytes, const Buffer &b, uint64_t bBytes) {
  return aBytes != 0 && bBytes != 0 && a.address() < b.address() + bBytes && b.address() < a.address() + aBytes;
}

/// What a buffer of the caller's is by itself. Every call with results given passes here.
[[gnu::always_inline]] inline Status checkOwn(const Device &device, size_t result, uint64_t bytes, const Buffer &given,
                                              std::span<const Value> inputs) {
  auto fail = [&](StatusCode code, auto... words) {
    return makeError(code, "result ", result, ": its buffer ", words...);
  };
  if (&given.device() != &device)
    return fail(StatusCode::InvalidArgument, "is on another device, ", given.device().description());
  if (given.isRetired())
    return fail(StatusCode::FailedPrecondition, "was deallocated");
  if (given.isLate() && given.address() == 0)
    return fail(StatusCode::FailedPrecondition, "has no memory yet: wait for the signals of its allocation");
  if ((given.options().access & kAccessWrite) == 0)
    return fail(StatusCode::FailedPrecondition, "is read only");
  if (given.size() < bytes)
    return fail(StatusCode::OutOfRange, "has ", given.size(), " bytes, the result needs ", bytes);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const auto *input = std::get_if<Tensor>(&inputs[i]);
        input && overlap(given, bytes, *input->buffer, input->buffer->size()))
      return fail(StatusCode::InvalidArgument, "is memory of input ", i);
  return okStatus();
}

/// A buffer of the caller's for a result of `bytes` bytes.
Status checkGiven(const Device &device, const CallPlan &plan, size_t index, uint64_t bytes, const Buffer &given,
                  std::span<const Value> inputs, std::span<const Value> results) {
  TENON_RETURN_IF_ERROR(checkOwn(device, index, bytes, given, inputs));
  for (size_t i = 0; i < index; ++i) {
    const CallPlan::Result &other = plan.results[i];
    if (other.isScalar || other.buffer == plan.results[index].buffer)
      continue;
    if (overlap(given, bytes, *std::get_if<Tensor>(&results[i])->buffer, plan.buffers[other.buffer].bytes))
      return makeError(StatusCode::InvalidArgument, "result ", index, ": its buffer is memory of result ", i);
  }
  return okStatus();
}

/// The result before this one that is the same memory; its own index: none.
size_t firstOfBuffer(const CallPlan &plan, size_t index) {
  for (size_t i = 0; i < index; ++i)
    if (!plan.results[i].isScalar && plan.results[i].buffer == plan.results[index].buffer)
      return i;
  return index;
}

Status bindTensor(Device &device, const CallPlan &plan, size_t index, std::span<const Value> inputs,
                  std::span<const std::shared_ptr<const Buffer>> constants, bool isOwnStream, ResultMemory *memory,
                  std::vector<Value> &results, Tensor &tensor) {
  const CallPlan::Buffer &buffer = plan.buffers[plan.results[index].buffer];
  switch (buffer.place) {
  case CallPlan::Place::Input:
    tensor.buffer = std::get_if<Tensor>(&inputs[buffer.index])->buffer;
    return okStatus();
  case CallPlan::Place::Constant:
    tensor.buffer = constants[buffer.index];
    return okStatus();
  case CallPlan::Place::Arena:
    return makeError(StatusCode::Internal, "result ", index, " is in the arena");
  case CallPlan::Place::Result:
    break;
  }
  if (const size_t first = firstOfBuffer(plan, index); first != index) {
    tensor.buffer = std::get_if<Tensor>(&results[first])->buffer;
    return okStatus();
  }
  if (memory && index < plan.returned) {
    TENON_ASSIGN_OR_RETURN(tensor.buffer, memory->allocate(index, tensor, buffer.bytes));
    return checkGiven(device, plan, index, buffer.bytes, *tensor.buffer, inputs, results);
  }
  if (tensor.buffer)
    return checkGiven(device, plan, index, buffer.bytes, *tensor.buffer, inputs, results);
  // Memory that goes back in the order of the device's own stream must not be in use on another stream then.
  TENON_ASSIGN_OR_RETURN(tensor.buffer, isOwnStream ? allocateOnStream(device, buffer.bytes)
                                                    : allocateBuffer(device, buffer.bytes, {}));
  return okStatus();
}

} // namespace

Status checkGivenBuffer(const Device &device, size_t result, uint64_t bytes, const Buffer &given,
                        std::span<const Value> inputs) {
  return checkOwn(device, result, bytes, given, inputs);
}

Status bindResults(Device &device, const CallPlan &plan, std::span<const Value> inputs,
                   std::span<const std::shared_ptr<const Buffer>> constants, bool isOwnStream, ResultMemory *memory,
                   std::vector<Value> &results) {
  if (!results.empty() && results.size() != plan.returned)
    return makeError(StatusCode::InvalidArgument, results.size(), " results given, function '",
                     plan.function->name()->string_view(), "' returns ", plan.returned);
  results.resize(plan.results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const CallPlan::Result &planned = plan.results[i];
    if (planned.isScalar) {
      results[i] = planned.scalar;
      continue;
    }
    if (!std::holds_alternative<Tensor>(results[i]))
      results[i] = Tensor();
    Tensor &tensor = *std::get_if<Tensor>(&results[i]);
    tensor.element = planned.element;
    if (tensor.shape != planned.shape)
      tensor.shape = planned.shape;
    TENON_RETURN_IF_ERROR(bindTensor(device, plan, i, inputs, constants, isOwnStream, memory, results, tensor));
  }
  return okStatus();
}

Result<std::vector<ResultCopy>> askForCopies(const Device &device, const CallPlan &plan, std::span<const Value> inputs,
                                             std::span<const Value> results, ResultMemory &memory) {
  std::vector<ResultCopy> copies;
  for (size_t i = 0; i < plan.returned; ++i) {
    const CallPlan::Result &planned = plan.results[i];
    if (planned.isScalar ||
        (plan.buffers[planned.buffer].place == CallPlan::Place::Result && firstOfBuffer(plan, i) == i))
      continue;
    const Tensor &tensor = *std::get_if<Tensor>(&results[i]);
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Buffer> target, memory.allocate(i, tensor, planned.bytes));
    if (target->address() == tensor.buffer->address()) // it is there already
      continue;
    TENON_RETURN_IF_ERROR(checkOwn(device, i, planned.bytes, *target, inputs));
    auto isTaken = [&](size_t other, const Buffer &memoryOfOther, uint64_t bytes) {
      return other != i && overlap(*target, planned.bytes, memoryOfOther, bytes);
    };
    auto fail = [&](size_t other) {
      return makeError(StatusCode::InvalidArgument, "result ", i, ": its buffer is memory of result ", other);
    };
    for (size_t other = 0; other < plan.returned; ++other)
      if (const CallPlan::Result &one = plan.results[other];
          !one.isScalar && plan.buffers[one.buffer].place == CallPlan::Place::Result &&
          isTaken(other, *std::get_if<Tensor>(&results[other])->buffer, plan.buffers[one.buffer].bytes))
        return fail(other);
    for (const ResultCopy &copy : copies)
      if (isTaken(copy.index, *copy.target, plan.results[copy.index].bytes))
        return fail(copy.index);
    copies.push_back({i, std::move(target)});
  }
  return copies;
}

Status copyResults(const Device &device, CUstream stream, std::span<const ResultCopy> copies,
                   std::span<Value> results) {
  for (const ResultCopy &copy : copies) {
    Tensor &tensor = *std::get_if<Tensor>(&results[copy.index]);
    TENON_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(tensor.shape, tensor.element));
    if (bytes != 0)
      TENON_RETURN_IF_ERROR(
          copyOnStream(device.driver(), stream, {tensor.buffer->address(), bytes}, {copy.target->address(), bytes}));
  }
  for (const ResultCopy &copy : copies) // only now: one may be what another is copied from
    std::get_if<Tensor>(&results[copy.index])->buffer = copy.target;
  return okStatus();
}

void setScalars(const CallPlan &plan, std::span<const int64_t> registers, std::span<Value> results) {
  const auto *sources = plan.function->results();
  for (uint32_t i = 0; sources && i < sources->size(); ++i)
    if (const abi::fb::ResultValue &source = *sources->Get(i);
        plan.results[i].isScalar && source.element() == kNoRegister)
      results[i] = Scalar{plan.results[i].element, registers[source.scalar()]};
}

} // namespace tenon::runtime
