// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What goes into a call and comes out of it: dense row-major tensors and scalars. A Tensor's elements live on the
// device; a HostTensor's in ordinary memory (text, .npy, tests). Elements are little endian, i1 takes a byte.
#pragma once

#include "abi/element_type.h"
#include "runtime/memory/buffer.h"
#include "support/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tenon::runtime {

class Device;

using Shape = std::vector<int64_t>; // [rank] elements, all >= 0

/// Bytes of a dense tensor. OutOfRange: an extent is negative, or the product does not fit 63 bits.
Result<uint64_t> denseBytes(std::span<const int64_t> shape, abi::ElementType element);

struct HostTensor {
  abi::ElementType element = abi::ElementType::F32;
  Shape shape;
  std::vector<uint8_t> bytes; // [denseBytes(shape, element)]
};

struct Tensor {
  abi::ElementType element = abi::ElementType::F32;
  Shape shape;
  std::shared_ptr<const Buffer> buffer; // >= denseBytes(shape, element), from offset 0
};

/// Integers are sign-extended to 64 bits, floats are their own bits zero-extended (f32 2.0 is 0x40000000).
struct Scalar {
  abi::ElementType element = abi::ElementType::I64;
  int64_t bits = 0;
};

using Value = std::variant<Tensor, Scalar>;
using HostValue = std::variant<HostTensor, Scalar>;

/// "tensor<8x4xf32>".
std::string tensorTypeSpelling(std::span<const int64_t> shape, abi::ElementType element);
/// "tensor<8x4xf32>" or "i32".
std::string typeSpelling(const Value &value);
std::string typeSpelling(const HostValue &value);

/// Copies to the device; returns when it is done. `tensor.bytes` may be those of one element, which then stands for
/// all. ResourceExhausted: no memory.
Result<Tensor> uploadTensor(Device &device, const HostTensor &tensor);
/// Likewise several: there is memory for all before the first is copied. Errors name the tensor by its position.
/// On the emulator, whose memory is the host's, ResourceExhausted also where that would not last for all of them.
Result<std::vector<Tensor>> uploadTensors(Device &device, std::span<const HostTensor *const> tensors);
/// Waits for all earlier work of the device's own stream and copies back.
Result<HostTensor> downloadTensor(Device &device, const Tensor &tensor);

} // namespace tenon::runtime
