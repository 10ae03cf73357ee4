// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One table of element types, one description of a place, and two structs that differ in a header.
#include "runtime/values/dlpack.h"

#include "abi/format/verify/verify.h"
#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/memory/allocator.h"

#include <algorithm>
#include <optional>

namespace tenon::runtime {

namespace {

struct TypeRow {
  abi::ElementType element;
  uint8_t code, bits;
};
// Of two rows for one DLPack type the first is what an import gets.
constexpr TypeRow kTypes[] = {
    {abi::ElementType::I1, dlpack::kBool, 8},    {abi::ElementType::I8, dlpack::kInt, 8},
    {abi::ElementType::I16, dlpack::kInt, 16},   {abi::ElementType::I32, dlpack::kInt, 32},
    {abi::ElementType::I64, dlpack::kInt, 64},   {abi::ElementType::Index, dlpack::kInt, 64},
    {abi::ElementType::F16, dlpack::kFloat, 16}, {abi::ElementType::BF16, dlpack::kBfloat, 16},
    {abi::ElementType::F32, dlpack::kFloat, 32}, {abi::ElementType::F64, dlpack::kFloat, 64},
    {abi::ElementType::I8, dlpack::kUInt, 8},    {abi::ElementType::I16, dlpack::kUInt, 16},
    {abi::ElementType::I32, dlpack::kUInt, 32},  {abi::ElementType::I64, dlpack::kUInt, 64}, // signless here
};

/// An exported struct and all that it points to, deleted together.
template <typename Struct> struct Exported {
  Struct managed = {};
  std::shared_ptr<const Buffer> buffer;
  Shape shape, strides;
};

template <typename Struct> void deleteExported(Struct *self) {
  delete static_cast<Exported<Struct> *>(self->context);
}

/// The buffer of a tensor that was exported here; null: it is of somebody else.
template <typename Struct> const Buffer *exportedBuffer(const Struct &managed) {
  const bool isOwn = managed.deleter == deleteExported<Struct>;
  return isOwn ? static_cast<const Exported<Struct> *>(managed.context)->buffer.get() : nullptr;
}

template <typename Struct> Result<Struct *> exportTensor(const Tensor &tensor, uint64_t *flags) {
  const Buffer &buffer = *tensor.buffer;
  if (buffer.isRetired() || (buffer.isLate() && buffer.address() == 0))
    return makeError(StatusCode::FailedPrecondition, "DLPack: the tensor's memory ",
                     buffer.isRetired() ? "was deallocated" : "is not there yet");
  if (!(buffer.options().access & kAccessWrite) && !flags)
    return makeError(StatusCode::FailedPrecondition, "DLPack: the tensor is read only, which only a versioned struct "
                                                     "can say");
  TENON_RETURN_IF_ERROR(denseBytes(tensor.shape, tensor.element).status().clone());
  auto *made = new Exported<Struct>();
  made->buffer = tensor.buffer;
  made->shape = tensor.shape;
  made->strides.resize(tensor.shape.size());
  int64_t stride = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    made->strides[i] = stride;
    // Beside an extent of 0 the others may be any: no element is there whose stride matters.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(tensor.shape[i], 1), &stride))
      stride = 0;
  }
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                [&](const TypeRow &type) { return type.element == tensor.element; });
  const bool isHost = buffer.host() != nullptr;
  dlpack::TensorView &view = made->managed.tensor;
  view.data = isHost ? buffer.host() : reinterpret_cast<void *>(buffer.address());
  view.device = {isHost ? dlpack::kCudaHost : dlpack::kCuda, buffer.device().ordinal()};
  if (uint8_t *const host = buffer.hostAddress(); host && buffer.device().isEmulator()) {
    view.device = {dlpack::kCpu, 0}; // its memory is the process's own
    view.data = host;
  }
  view.rank = static_cast<int32_t>(tensor.shape.size());
  view.type = {row->code, row->bits, 1};
  view.shape = made->shape.data();
  view.strides = made->strides.data();
  made->managed.context = made;
  made->managed.deleter = deleteExported<Struct>;
  return &made->managed;
}

bool isDense(const dlpack::TensorView &view) {
  if (!view.strides || std::find(view.shape, view.shape + view.rank, 0) != view.shape + view.rank)
    return true;
  int64_t stride = 1;
  for (int32_t i = view.rank; i-- > 0;) {
    if (view.shape[i] != 1 && view.strides[i] != stride)
      return false;
    stride *= view.shape[i];
  }
  return true;
}

Result<Tensor> describeTensor(const dlpack::TensorView &view) {
  if (view.rank > int32_t(abi::kMaxRank))
    return makeError(StatusCode::Unimplemented, "DLPack: a tensor of rank ", view.rank, ", at most ", abi::kMaxRank,
                     " is possible");
  if (view.rank < 0 || (view.rank != 0 && !view.shape))
    return makeError(StatusCode::InvalidArgument, "DLPack: a tensor of rank ", view.rank, " without a shape");
  // A complex number is two floats along one more dimension.
  const bool isComplex = view.type.code == dlpack::kComplex && view.type.bits % 2 == 0;
  const uint8_t code = isComplex ? uint8_t(dlpack::kFloat) : view.type.code;
  const int bits = isComplex ? view.type.bits / 2 : view.type.bits;
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                [&](const TypeRow &type) { return type.code == code && type.bits == bits; });
  if (row == std::end(kTypes) || view.type.lanes != 1)
    return makeError(StatusCode::Unimplemented, "DLPack: elements of type code ", int(view.type.code), " with ",
                     int(view.type.bits), " bits and ", view.type.lanes,
                     " lanes: supported are bool, int, uint, float, bfloat "
                     "and complex of whole bytes, with one lane");
  if (isComplex && view.rank == int32_t(abi::kMaxRank))
    return makeError(StatusCode::Unimplemented, "DLPack: a complex tensor of rank ", view.rank, ", at most ",
                     abi::kMaxRank - 1, " is possible");
  Tensor tensor;
  tensor.element = row->element;
  tensor.shape.assign(view.shape, view.shape + view.rank);
  if (isComplex)
    tensor.shape.push_back(2);
  return tensor;
}

/// `own` is the buffer that was exported here, or null. `release` is given to the buffer when nothing can fail any
/// more.
Result<Tensor> importTensor(Device &device, const dlpack::TensorView &view, const Buffer *own, uint32_t access,
                            const Buffer::Release &release) {
  TENON_ASSIGN_OR_RETURN(Tensor tensor, describeTensor(view));
  TENON_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(tensor.shape, tensor.element));
  if (!isDense(view))
    return makeError(StatusCode::Unimplemented, "DLPack: the tensor's strides are not those of a dense row-major one: "
                                                "make it contiguous");
  const bool isPlain = view.device.type == dlpack::kCpu && device.isEmulator();
  const bool isHost = view.device.type == dlpack::kCudaHost;
  if (view.device.type != dlpack::kCuda && view.device.type != dlpack::kCudaManaged && !isHost && !isPlain)
    return makeError(StatusCode::Unimplemented, "DLPack: memory of device type ", view.device.type,
                     view.device.type == dlpack::kCpu ? " (CPU: import it as host memory, or copy it)" : "",
                     "; supported are CUDA (2), pinned host memory (3) and managed memory (13)");
  if (!isHost && !isPlain && view.device.id != device.ordinal())
    return makeError(StatusCode::FailedPrecondition, "DLPack: memory of CUDA device ", view.device.id,
                     ", the tensor is wanted on device ", device.ordinal(), ", ", device.description());
  const uint64_t data = reinterpret_cast<uint64_t>(view.data) + view.byteOffset;
  if (!view.data && bytes != 0)
    return makeError(StatusCode::InvalidArgument, "DLPack: a null address for ", bytes, " bytes");
  BufferOptions options;
  options.access = access;
  // The emulator's memory, which the process sees elsewhere than kernels do, comes back.
  if (isPlain && own && &own->device() == &device && own->hostAddress()) {
    const uint64_t offset = data - reinterpret_cast<uint64_t>(own->hostAddress());
    TENON_ASSIGN_OR_RETURN(tensor.buffer, importDeviceMemory(device, own->address() + offset, bytes, options, release));
    return tensor;
  }
  if (isPlain && bytes != 0) {
    TENON_ASSIGN_OR_RETURN(tensor.buffer,
                           importHostMemory(device, reinterpret_cast<void *>(data), bytes, options, release));
    return tensor;
  }
  if (!isHost) {
    TENON_ASSIGN_OR_RETURN(tensor.buffer, importDeviceMemory(device, data, bytes, options, release));
    return tensor;
  }
  options.memory = MemoryType::HostVisible;
  void *const host = reinterpret_cast<void *>(data);
  CUdeviceptr address = 0;
  cuda::ContextScope scope = device.enter();
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_RETURN_IF_ERROR(cuda::driverStatus(device.driver(),
                                           device.driver().cuMemHostGetDevicePointer_v2(&address, host, 0),
                                           "cuMemHostGetDevicePointer_v2"));
  tensor.buffer = std::make_shared<Buffer>(device.shared_from_this(), address, bytes, options, host, release);
  return tensor;
}

} // namespace

Result<dlpack::ManagedVersioned *> exportDlpack(const Tensor &tensor) {
  uint64_t flags = 0;
  TENON_ASSIGN_OR_RETURN(dlpack::ManagedVersioned * managed, exportTensor<dlpack::ManagedVersioned>(tensor, &flags));
  managed->version = dlpack::kVersion;
  if (!(tensor.buffer->options().access & kAccessWrite))
    managed->flags = dlpack::kReadOnly;
  return managed;
}

Result<dlpack::Managed *> exportDlpackUnversioned(const Tensor &tensor) {
  return exportTensor<dlpack::Managed>(tensor, nullptr);
}

Result<Tensor> importDlpack(Device &device, dlpack::ManagedVersioned *managed) {
  if (!managed)
    return makeError(StatusCode::InvalidArgument, "DLPack: no tensor");
  if (managed->version.major != dlpack::kVersion.major)
    return makeError(StatusCode::Unimplemented, "DLPack: the tensor is of version ", managed->version.major, '.',
                     managed->version.minor, ", supported is ", dlpack::kVersion.major);
  return importTensor(device, managed->tensor, exportedBuffer(*managed),
                      managed->flags & dlpack::kReadOnly ? kAccessRead : kAccessAll, [managed] {
                        if (managed->deleter)
                          managed->deleter(managed);
                      });
}

Result<Tensor> importDlpackUnversioned(Device &device, dlpack::Managed *managed) {
  if (!managed)
    return makeError(StatusCode::InvalidArgument, "DLPack: no tensor");
  return importTensor(device, managed->tensor, exportedBuffer(*managed), kAccessAll, [managed] {
    if (managed->deleter)
      managed->deleter(managed);
  });
}

} // namespace tenon::runtime
