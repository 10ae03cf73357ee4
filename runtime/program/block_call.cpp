// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/block_call.h"

#include "runtime/device/device.h"
#include "runtime/device/stream_commands.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"
#include "runtime/program/call_results.h"
#include "runtime/program/plan/function_data.h"

#include <algorithm>
#include <cstring>

namespace tenon::runtime {

namespace {

/// Where an element lies that a block reads back.
Result<ReadPlace> placeOf(const CallPlan &plan, const abi::fb::ResultValue &source, int64_t offset,
                          std::span<const Value> inputs, std::span<const std::shared_ptr<const Buffer>> constants,
                          const std::shared_ptr<const Buffer> &arena, std::span<const Value> results) {
  const CallPlan::Buffer &buffer = plan.buffers[source.buffer()];
  const uint64_t size = abi::byteSize(static_cast<abi::ElementType>(source.type()->element()));
  if (offset < 0 || buffer.bytes < size || static_cast<uint64_t>(offset) > buffer.bytes - size)
    return makeError(StatusCode::OutOfRange, "function '", plan.function->name()->string_view(), "': ", size,
                     " bytes at byte ", offset, " of buffer ", source.buffer(), " are read back, it has ",
                     buffer.bytes);
  const auto at = static_cast<uint64_t>(offset);
  switch (buffer.place) {
  case CallPlan::Place::Input:
    return ReadPlace{std::get_if<Tensor>(&inputs[buffer.index])->buffer, at};
  case CallPlan::Place::Constant:
    return ReadPlace{constants[buffer.index], at};
  case CallPlan::Place::Arena:
    return ReadPlace{arena, buffer.offset + at};
  case CallPlan::Place::Result:
    break;
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (!plan.results[i].isScalar && plan.results[i].buffer == source.buffer())
      return ReadPlace{std::get_if<Tensor>(&results[i])->buffer, at};
  return makeError(StatusCode::Internal, "no result has buffer ", source.buffer());
}

} // namespace

int64_t scalarOf(abi::ElementType element, std::span<const uint8_t> bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min(bytes.size(), sizeof(bits)));
  if (element == abi::ElementType::I1)
    return (bits & 0xff) != 0;
  if (abi::isFloat(element) || bytes.size() >= sizeof(bits))
    return static_cast<int64_t>(bits);
  const auto unused = static_cast<int>(64 - 8 * bytes.size());
  return static_cast<int64_t>(bits << unused) >> unused;
}

Status takeScalars(Device &device, const CallPlan &plan, std::span<const int64_t> registers,
                   std::span<const Value> inputs, std::span<const std::shared_ptr<const Buffer>> constants,
                   const std::shared_ptr<const Buffer> &arena, std::span<Value> results) {
  setScalars(plan, registers, results);
  const auto *sources = plan.function->results();
  for (uint32_t i = 0; i < sizeOf(sources); ++i) {
    const abi::fb::ResultValue &source = *sources->Get(i);
    if (!plan.results[i].isScalar || source.element() == kNoRegister)
      continue;
    const abi::ElementType element = plan.results[i].element;
    TENON_ASSIGN_OR_RETURN(const ReadPlace place,
                           placeOf(plan, source, registers[source.element()], inputs, constants, arena, results));
    uint8_t bytes[8] = {};
    const std::span<uint8_t> read(bytes, abi::byteSize(element));
    TENON_RETURN_IF_ERROR(downloadBytes(*place.buffer, place.offset, read));
    results[i] = Scalar{element, scalarOf(element, read)};
  }
  return okStatus();
}

namespace {

/// Every buffer that the caller gave can take its result, and no two of them share memory.
Status checkGiven(const Device &device, std::span<const Value> returned, std::span<const Value> inputs,
                  std::span<const Value> results) {
  if (results.size() != returned.size())
    return makeError(StatusCode::InvalidArgument, results.size(), " results given, the function returns ",
                     returned.size());
  std::vector<std::pair<const Buffer *, uint64_t>> taken(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const auto *tensor = std::get_if<Tensor>(&returned[i]), *given = std::get_if<Tensor>(&results[i]);
    // A donated input's memory, in which the result lies anyway.
    if (!tensor || !given || !given->buffer || given->buffer == tensor->buffer)
      continue;
    TENON_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(tensor->shape, tensor->element));
    TENON_RETURN_IF_ERROR(checkGivenBuffer(device, i, bytes, *given->buffer, inputs));
    for (size_t k = 0; k < i; ++k)
      if (const Buffer *other = taken[k].first; other && bytes != 0 && taken[k].second != 0 &&
                                                given->buffer->address() < other->address() + taken[k].second &&
                                                other->address() < given->buffer->address() + bytes)
        return makeError(StatusCode::InvalidArgument, "result ", i, ": its buffer is memory of result ", k);
    taken[i] = {given->buffer.get(), bytes};
  }
  return okStatus();
}

} // namespace

Status giveResults(Device &device, std::vector<Value> returned, std::span<const Value> inputs,
                   const std::function<bool(const Buffer &)> &isShared, std::vector<Value> &results) {
  if (!results.empty())
    TENON_RETURN_IF_ERROR(checkGiven(device, returned, inputs, results));
  results.resize(returned.size());
  std::vector<const Buffer *> handedOut;
  for (size_t i = 0; i < returned.size(); ++i) {
    auto *tensor = std::get_if<Tensor>(&returned[i]);
    if (!tensor) {
      results[i] = returned[i];
      continue;
    }
    const Tensor *given = std::get_if<Tensor>(&results[i]);
    std::shared_ptr<const Buffer> target = given ? given->buffer : nullptr;
    TENON_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(tensor->shape, tensor->element));
    const bool isTwice = std::find(handedOut.begin(), handedOut.end(), tensor->buffer.get()) != handedOut.end();
    if (target == tensor->buffer) // the result lies there
      target = nullptr;
    else if (!target && (isTwice || isShared(*tensor->buffer))) {
      TENON_ASSIGN_OR_RETURN(target, allocateOnStream(device, bytes));
    }
    if (target && bytes != 0)
      TENON_RETURN_IF_ERROR(copyOnStream(device.driver(), device.stream().handle(), {tensor->buffer->address(), bytes},
                                         {target->address(), bytes}));
    Tensor result = *tensor;
    if (target)
      result.buffer = std::move(target);
    else
      handedOut.push_back(tensor->buffer.get());
    results[i] = std::move(result);
  }
  return okStatus();
}

} // namespace tenon::runtime
