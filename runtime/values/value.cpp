// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of dense tensors, computed without overflow, and their way to the device and back.
#include "runtime/values/value.h"

#include "runtime/device/device.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"
#include "support/memory.h"

namespace tenon::runtime {

Result<uint64_t> denseBytes(std::span<const int64_t> shape, abi::ElementType element) {
  bool empty = false; // whatever its other extents are
  for (int64_t extent : shape) {
    if (extent < 0)
      return makeError(StatusCode::OutOfRange, "a tensor cannot have ", extent, " elements along a dimension");
    empty |= extent == 0;
  }
  if (empty)
    return uint64_t(0);
  int64_t bytes = abi::byteSize(element);
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return makeError(StatusCode::OutOfRange, tensorTypeSpelling(shape, element), " is larger than 2^63 bytes");
  return static_cast<uint64_t>(bytes);
}

std::string tensorTypeSpelling(std::span<const int64_t> shape, abi::ElementType element) {
  std::string out = "tensor<";
  for (int64_t extent : shape)
    out += concat(extent, 'x');
  return concat(out, abi::spelling(element), '>');
}

namespace {
template <typename TensorType> std::string spell(const std::variant<TensorType, Scalar> &value) {
  if (const auto *tensor = std::get_if<TensorType>(&value))
    return tensorTypeSpelling(tensor->shape, tensor->element);
  return std::string(abi::spelling(std::get_if<Scalar>(&value)->element));
}
} // namespace

std::string typeSpelling(const Value &value) {
  return spell(value);
}
std::string typeSpelling(const HostValue &value) {
  return spell(value);
}

/// Bytes on the device; InvalidArgument: those at hand are neither that many nor one element.
static Result<uint64_t> bytesToUpload(const HostTensor &tensor) {
  TENON_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(tensor.shape, tensor.element));
  if (bytes != tensor.bytes.size() && abi::byteSize(tensor.element) != tensor.bytes.size())
    return makeError(StatusCode::InvalidArgument, tensorTypeSpelling(tensor.shape, tensor.element), " has ", bytes,
                     " bytes, ", tensor.bytes.size(), " were given");
  return bytes;
}

Result<Tensor> uploadTensor(Device &device, const HostTensor &tensor) {
  TENON_ASSIGN_OR_RETURN(const uint64_t bytes, bytesToUpload(tensor));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, allocateOnStream(device, bytes));
  if (bytes != 0)
    TENON_RETURN_IF_ERROR(uploadRepeated(*buffer, tensor.bytes));
  return Tensor{tensor.element, tensor.shape, std::move(buffer)};
}

Result<std::vector<Tensor>> uploadTensors(Device &device, std::span<const HostTensor *const> tensors) {
  auto where = [&](size_t i) {
    return concat("tensor ", i, " (", tensorTypeSpelling(tensors[i]->shape, tensors[i]->element), ")");
  };
  std::vector<std::shared_ptr<Buffer>> buffers;
  uint64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Result<uint64_t> bytes = bytesToUpload(*tensors[i]);
    if (!bytes.ok())
      return bytes.takeStatus().withContext(where(i));
    Result<std::shared_ptr<Buffer>> buffer = allocateOnStream(device, *bytes);
    if (!buffer.ok())
      return buffer.takeStatus().withContext(where(i));
    total += *bytes;
    buffers.push_back(buffer.take());
  }
  if (device.isEmulator()) // it takes what it gave out when that is written
    TENON_RETURN_IF_ERROR(checkMemory(total, "the tensors on the emulator's device"));
  std::vector<Tensor> out;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (buffers[i]->size() != 0)
      TENON_RETURN_IF_ERROR(uploadRepeated(*buffers[i], tensors[i]->bytes).withContext(where(i)));
    out.push_back({tensors[i]->element, tensors[i]->shape, std::move(buffers[i])});
  }
  return out;
}

Result<HostTensor> downloadTensor(Device &device, const Tensor &tensor) {
  TENON_ASSIGN_OR_RETURN(uint64_t bytes, denseBytes(tensor.shape, tensor.element));
  HostTensor host{tensor.element, tensor.shape, {}};
  TENON_RETURN_IF_ERROR(resizeChecked(host.bytes, bytes, tensorTypeSpelling(tensor.shape, tensor.element)));
  TENON_RETURN_IF_ERROR(downloadBytes(*tensor.buffer, 0, host.bytes));
  return host;
}

} // namespace tenon::runtime
