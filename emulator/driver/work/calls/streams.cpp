// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of streams.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/memory/memory_pool.h"
#include "emulator/driver/work/capture.h"
#include "emulator/driver/work/enqueue.h"
#include "emulator/driver/work/stream.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::emulator;

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
  TENON_ENTER_CONTEXT();
  if (!out || flags > CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  Stream *stream = new Stream;
  stream->context = context;
  stream->flags = flags;
  stream->priority = std::clamp(priority, -5, 0);
  stream->id = ++driver.nextId;
  driver.streams.insert(stream);
  *out = reinterpret_cast<CUstream>(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream *out, unsigned flags) {
  TENON_CALL();
  return cuStreamCreateWithPriority(out, flags, 0);
}
CUresult cuStreamDestroy(CUstream handle) {
  TENON_ENTER_CONTEXT();
  Stream *stream = reinterpret_cast<Stream *>(handle);
  if (!driver.streams.count(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  // What was enqueued still runs.
  if (!isDone(stream->tail) && stream->isBlocking())
    stream->context->orphans.push_back(stream->tail);
  forgetCapture(*stream);
  driver.streams.erase(stream);
  delete stream;
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!isCapturing(*on))
    TENON_UNSAFE_CALL();
  CUresult result = finishStream(*on);
  trimPools(driver);
  return result;
}
CUresult cuStreamQuery(CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (isCapturing(*on))
    return invalidateCapture(*on, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  TENON_UNSAFE_CALL();
  std::vector<OperationPtr> work = orderInStream(*on);
  bool done = true;
  for (const OperationPtr &operation : work)
    done &= driver.queue.poll(operation);
  return context->sticky ? static_cast<CUresult>(context->sticky) : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuStreamGetPriority(CUstream handle, int *priority) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream, handle);
  if (!priority)
    return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream, handle);
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream, handle);
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  *id = stream->id;
  return CUDA_SUCCESS;
}
extern "C" CUresult cuStreamGetCtx(CUstream handle, CUcontext *out) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream, handle);
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUcontext>(stream->context);
  return CUDA_SUCCESS;
}
CUresult cuStreamGetDevice(CUstream handle, CUdevice *out) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream, handle);
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = stream->context->device->ordinal;
  return CUDA_SUCCESS;
}

// Host functions: called by the thread of the queue when their turn comes.
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  return enqueue(*on, HostWork{function, nullptr, nullptr, data});
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  if (!callback || flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (isCapturing(*on))
    return invalidateCapture(*on, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return enqueue(*on, HostWork{nullptr, callback, stream, data});
}
