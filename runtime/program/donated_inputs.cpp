// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/donated_inputs.h"

#include "runtime/device/device.h"
#include "runtime/device/stream_commands.h"
#include "runtime/memory/allocator.h"
#include "runtime/program/plan/function_data.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

bool contains(const flatbuffers::Vector<uint32_t> *numbers, uint32_t number) {
  return numbers && std::binary_search(numbers->begin(), numbers->end(), number);
}

/// Bytes of a tensor from its first on; a scalar has none.
Result<uint64_t> bytesOf(const Value &value) {
  const auto *tensor = std::get_if<Tensor>(&value);
  return tensor ? denseBytes(tensor->shape, tensor->element) : Result<uint64_t>(uint64_t(0));
}

} // namespace

bool isDonated(const abi::fb::Function &function, uint32_t input) {
  return contains(function.donated(), input);
}

bool isUpdated(const abi::fb::Function &function, uint32_t input) {
  return contains(function.updated(), input);
}

bool isOfDonated(const Buffer &buffer, const abi::fb::Function &function, std::span<const Value> inputs) {
  for (uint32_t i = 0; i < sizeOf(function.donated()); ++i)
    if (std::get_if<Tensor>(&inputs[function.donated()->Get(i)])->buffer.get() == &buffer)
      return true;
  return false;
}

Status checkDonated(const abi::fb::Function &function, std::span<const Value> inputs) {
  for (uint32_t i = 0; i < sizeOf(function.donated()); ++i) {
    const uint32_t input = function.donated()->Get(i);
    const Buffer &buffer = *std::get_if<Tensor>(&inputs[input])->buffer;
    TENON_ASSIGN_OR_RETURN(const uint64_t bytes, bytesOf(inputs[input]));
    if (bytes == 0)
      continue;
    auto fail = [&](StatusCode code, auto... words) {
      return makeError(code, "input ", input, " of function '", function.name()->string_view(),
                       "' is donated, which the function writes, and its buffer ", words...);
    };
    if ((buffer.options().access & kAccessWrite) == 0)
      return fail(StatusCode::FailedPrecondition, "is read only");
    for (uint32_t other = 0; other < inputs.size(); ++other) {
      if (other == input || function.inputs()->Get(other)->kind() != abi::fb::ValueKind::Tensor)
        continue; // what is not read may be anything
      TENON_ASSIGN_OR_RETURN(const uint64_t otherBytes, bytesOf(inputs[other]));
      if (otherBytes == 0)
        continue;
      const uint64_t begin = std::get_if<Tensor>(&inputs[other])->buffer->address();
      if (begin < buffer.address() + bytes && buffer.address() < begin + otherBytes)
        return fail(StatusCode::InvalidArgument, "is memory of input ", other, ", too");
    }
  }
  return okStatus();
}

Result<std::vector<std::shared_ptr<const Buffer>>> copyDonated(Device &device, const abi::fb::Function &function,
                                                               CUstream stream, bool isOwnStream,
                                                               std::vector<Value> &inputs) {
  std::vector<std::shared_ptr<const Buffer>> copies;
  for (uint32_t i = 0; i < sizeOf(function.donated()); ++i) {
    const uint32_t input = function.donated()->Get(i);
    if (isUpdated(function, input))
      continue;
    Tensor &tensor = *std::get_if<Tensor>(&inputs[input]);
    TENON_ASSIGN_OR_RETURN(const uint64_t bytes, bytesOf(tensor));
    // Memory that goes back in the order of the device's own stream must not be in use on another stream then.
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Buffer> copy,
                           isOwnStream ? allocateOnStream(device, bytes) : allocateBuffer(device, bytes, {}));
    if (bytes != 0)
      TENON_RETURN_IF_ERROR(
          copyOnStream(device.driver(), stream, {tensor.buffer->address(), bytes}, {copy->address(), bytes}));
    tensor.buffer = copy;
    copies.push_back(std::move(copy));
  }
  return copies;
}

} // namespace tenon::runtime
