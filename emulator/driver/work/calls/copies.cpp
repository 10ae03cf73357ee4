// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills. What of a copy the host can see follows "API synchronization behavior" of the driver's reference:
// copies within device memory and fills are asynchronous also without a stream; pageable memory is read when a copy is
// enqueued and written before the call returns; pinned memory is read and written when the copy runs.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/work/capture.h"
#include "emulator/driver/work/enqueue.h"
#include "emulator/driver/work/transfer.h"

using namespace tenon;
using namespace tenon::emulator;

namespace {

enum class Wait { Never, Host }; // Host: the caller may touch the host's side when the call returns

CUresult copyOn(Driver &driver, Stream &stream, const CUDA_MEMCPY3D &copy, Wait wait) {
  if (CUresult result = validateCopy(driver, copy); result != CUDA_SUCCESS)
    return result;
  CopyWork work{copy, nullptr};
  bool fromPageable = readsPageable(driver, copy), toPageable = writesPageable(driver, copy);
  bool atOnce = driver.queue.order() == Order::Eager && driver.queue.idle();
  if (fromPageable && !toPageable && !atOnce && !isCapturing(stream)) {
    work.staged = stageSource(copy);
    wait = Wait::Never;
  }
  CUresult result = enqueue(stream, std::move(work));
  if (result != CUDA_SUCCESS || isCapturing(stream) || (wait == Wait::Never && !toPageable))
    return result;
  return driver.queue.finish(stream.tail);
}

CUresult flat(Driver &driver, Stream &stream, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemorytype toType,
              CUmemorytype fromType, Wait wait) {
  if (bytes == 0)
    return CUDA_SUCCESS;
  CUDA_MEMCPY3D copy = flatCopy(to, from, bytes);
  copy.dstMemoryType = toType;
  copy.srcMemoryType = fromType;
  if (toType == CU_MEMORYTYPE_HOST)
    copy.dstHost = reinterpret_cast<void *>(to);
  if (fromType == CU_MEMORYTYPE_HOST)
    copy.srcHost = reinterpret_cast<void *>(from);
  return copyOn(driver, stream, copy, wait);
}

bool touchesHost(Driver &driver, CUdeviceptr address) {
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  return !device || (allocation && allocation->kind == AllocationKind::Pinned);
}
Wait waitOf(Driver &driver, CUdeviceptr to, CUdeviceptr from) {
  return touchesHost(driver, to) || touchesHost(driver, from) ? Wait::Host : Wait::Never;
}

CUDA_MEMCPY3D widen(const CUDA_MEMCPY2D &c) {
  CUDA_MEMCPY3D copy = {};
  copy.srcXInBytes = c.srcXInBytes;
  copy.srcY = c.srcY;
  copy.srcMemoryType = c.srcMemoryType;
  copy.srcHost = c.srcHost;
  copy.srcDevice = c.srcDevice;
  copy.srcArray = c.srcArray;
  copy.srcPitch = c.srcPitch;
  copy.dstXInBytes = c.dstXInBytes;
  copy.dstY = c.dstY;
  copy.dstMemoryType = c.dstMemoryType;
  copy.dstHost = c.dstHost;
  copy.dstDevice = c.dstDevice;
  copy.dstArray = c.dstArray;
  copy.dstPitch = c.dstPitch;
  copy.WidthInBytes = c.WidthInBytes;
  copy.Height = c.Height;
  copy.Depth = 1;
  return copy;
}

CUresult fillOn(Driver &driver, Stream &stream, CUdeviceptr to, size_t pitch, unsigned value, unsigned elementSize,
                size_t width, size_t height) {
  FillWork work{{to, pitch, value, elementSize, width, height}};
  if (CUresult result = validateFill(driver, work.fill); result != CUDA_SUCCESS || !width || !height)
    return result;
  return enqueue(stream, std::move(work));
}

} // namespace

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return flat(driver, *context->defaultStream, to, hostAddress(from), bytes, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST,
              Wait::Host);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  return flat(driver, *on, to, hostAddress(from), bytes, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, Wait::Never);
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return flat(driver, *context->defaultStream, hostAddress(to), from, bytes, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE,
              Wait::Host);
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  return flat(driver, *on, hostAddress(to), from, bytes, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, Wait::Never);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return flat(driver, *context->defaultStream, to, from, bytes, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE,
              Wait::Never);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  return flat(driver, *on, to, from, bytes, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE, Wait::Never);
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  TENON_ENTER_CONTEXT();
  return flat(driver, *context->defaultStream, to, from, bytes, CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED,
              waitOf(driver, to, from));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  return flat(driver, *on, to, from, bytes, CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED, Wait::Never);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext, size_t bytes) {
  TENON_ENTER_CONTEXT();
  if (!findContext(toContext) || !findContext(fromContext))
    return CUDA_ERROR_INVALID_CONTEXT;
  return flat(driver, *context->defaultStream, to, from, bytes, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE,
              Wait::Never);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext, size_t bytes,
                           CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!findContext(toContext) || !findContext(fromContext))
    return CUDA_ERROR_INVALID_CONTEXT;
  return flat(driver, *on, to, from, bytes, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE, Wait::Never);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
  TENON_ENTER_CONTEXT();
  if (!copy)
    return CUDA_ERROR_INVALID_VALUE;
  return copyOn(driver, *context->defaultStream, widen(*copy), Wait::Host);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) {
  TENON_CALL();
  return cuMemcpy2D(copy);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!copy)
    return CUDA_ERROR_INVALID_VALUE;
  return copyOn(driver, *on, widen(*copy), Wait::Never);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D *copy) {
  TENON_ENTER_CONTEXT();
  if (!copy)
    return CUDA_ERROR_INVALID_VALUE;
  return copyOn(driver, *context->defaultStream, *copy, Wait::Host);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!copy)
    return CUDA_ERROR_INVALID_VALUE;
  return copyOn(driver, *on, *copy, Wait::Never);
}

// Fills of one, two and four bytes, in a row or in rows, with and without a stream.
#define TENON_FILL(bits, type)                                                                                         \
  CUresult cuMemsetD##bits(CUdeviceptr to, type value, size_t count) {                                                 \
    TENON_ENTER_CONTEXT();                                                                                             \
    return fillOn(driver, *context->defaultStream, to, 0, value, bits / 8, count, 1);                                  \
  }                                                                                                                    \
  CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream) {                         \
    TENON_ENTER_CONTEXT();                                                                                             \
    TENON_STREAM(on, stream);                                                                                          \
    return fillOn(driver, *on, to, 0, value, bits / 8, count, 1);                                                      \
  }                                                                                                                    \
  CUresult cuMemsetD2D##bits(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) {                  \
    TENON_ENTER_CONTEXT();                                                                                             \
    return fillOn(driver, *context->defaultStream, to, pitch, value, bits / 8, width, height);                         \
  }                                                                                                                    \
  CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height,             \
                                    CUstream stream) {                                                                 \
    TENON_ENTER_CONTEXT();                                                                                             \
    TENON_STREAM(on, stream);                                                                                          \
    return fillOn(driver, *on, to, pitch, value, bits / 8, width, height);                                             \
  }
TENON_FILL(8, unsigned char)
TENON_FILL(16, unsigned short)
TENON_FILL(32, unsigned)
