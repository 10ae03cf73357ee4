// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that other libraries hold, and ours held by them: DLPack, the C structs by which PyTorch, CuPy, JAX and
// others hand over memory without a copy. The structs are its ABI of version 1 (dlpack.h of the DLPack project,
// "DLManagedTensor" and "DLManagedTensorVersioned"), declared here so that nothing is needed to build.
//
//   export   the tensor keeps its buffer, and with it its device, until the consumer calls the deleter
//   import   the buffer keeps the producer's struct and calls its deleter when the last user is done with it
//
// Which streams the two sides work on is theirs to order (`__dlpack__(stream=...)` in Python): nothing here waits.
#pragma once

#include "runtime/values/value.h"

namespace tenon::runtime {

namespace dlpack {

enum DeviceType : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };
inline constexpr uint64_t kReadOnly = 1; // a flag

struct Version {
  uint32_t major, minor;
};
struct DeviceId {
  int32_t type, id;
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct TensorView {
  void *data;
  DeviceId device;
  int32_t rank;
  DataType type;
  int64_t *shape;   // [rank]
  int64_t *strides; // [rank] elements; null: dense
  uint64_t byteOffset;
};
struct Managed {
  TensorView tensor;
  void *context;
  void (*deleter)(Managed *self);
};
struct ManagedVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedVersioned *self);
  uint64_t flags;
  TensorView tensor;
};
static_assert(sizeof(TensorView) == 48 && sizeof(Managed) == 64 && sizeof(ManagedVersioned) == 80);

inline constexpr Version kVersion = {1, 0};

} // namespace dlpack

/// A tensor for a consumer, who calls its deleter. FailedPrecondition: its memory was deallocated or is not there yet,
/// or (the older struct has no flag for it) may only be read.
Result<dlpack::ManagedVersioned *> exportDlpack(const Tensor &tensor);
Result<dlpack::Managed *> exportDlpackUnversioned(const Tensor &tensor);

/// A producer's tensor. On success it is taken over, else it stays the caller's. InvalidArgument: no tensor, negative
/// extents; Unimplemented, by name: another major version, another kind of device, an element type without a name here,
/// strides that are not dense; FailedPrecondition: memory of another device.
Result<Tensor> importDlpack(Device &device, dlpack::ManagedVersioned *managed);
Result<Tensor> importDlpackUnversioned(Device &device, dlpack::Managed *managed);

} // namespace tenon::runtime
