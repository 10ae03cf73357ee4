// Streams and events. Everything enqueued is done at once, so a stream is always idle and a recorded event has
// happened. Time is virtual: it grows with the instructions that ran.
#include "emulator/driver/state.h"

using namespace tenon;
using namespace tenon::emulator;

namespace {
Event *eventOf(Driver &driver, CUevent handle) {
  Event *event = reinterpret_cast<Event *>(handle);
  return driver.events.count(event) ? event : nullptr;
}
} // namespace

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
  TENON_ENTER_CONTEXT();
  if (!out || flags > CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  Stream *stream = new Stream{context, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority, ++driver.nextId};
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
  driver.streams.erase(stream);
  delete stream;
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  if (!eventOf(driver, event))
    return CUDA_ERROR_INVALID_HANDLE;
  return flags > 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuStreamGetPriority(CUstream handle, int *priority) {
  TENON_ENTER_CONTEXT();
  Stream *stream = findStream(context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!priority)
    return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
  TENON_ENTER_CONTEXT();
  Stream *stream = findStream(context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
  TENON_ENTER_CONTEXT();
  Stream *stream = findStream(context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  *id = stream->id;
  return CUDA_SUCCESS;
}
extern "C" CUresult cuStreamGetCtx(CUstream handle, CUcontext *out) {
  TENON_ENTER_CONTEXT();
  Stream *stream = findStream(context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUcontext>(stream->context);
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  if (!status)
    return CUDA_ERROR_INVALID_VALUE;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  {
    TENON_ENTER_CONTEXT();
    TENON_STREAM(stream);
    if (!function)
      return CUDA_ERROR_INVALID_VALUE;
  }
  function(data); // without the lock: it runs the caller's code
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *out, unsigned flags) {
  TENON_ENTER_CONTEXT();
  if (!out || flags > 7 || ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_EVENT_INTERPROCESS)
    return CUDA_ERROR_NOT_SUPPORTED;
  Event *event = new Event{context, flags, false, 0};
  driver.events.insert(event);
  *out = reinterpret_cast<CUevent>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent handle) {
  TENON_ENTER_CONTEXT();
  Event *event = eventOf(driver, handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  driver.events.erase(event);
  delete event;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent handle, CUstream stream) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(stream);
  Event *event = eventOf(driver, handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  event->recorded = true;
  event->time = driver.virtualTime;
  return CUDA_SUCCESS;
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  TENON_CALL();
  return flags ? CUDA_ERROR_NOT_SUPPORTED : cuEventRecord(event, stream);
}
CUresult cuEventQuery(CUevent event) {
  TENON_ENTER_CONTEXT();
  return eventOf(driver, event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuEventSynchronize(CUevent event) {
  TENON_CALL();
  return cuEventQuery(event);
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent first, CUevent second) {
  TENON_ENTER_CONTEXT();
  Event *begin = eventOf(driver, first), *end = eventOf(driver, second);
  if (!begin || !end)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  if (!begin->recorded || !end->recorded || ((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = static_cast<float>((static_cast<double>(end->time) - static_cast<double>(begin->time)) * 1e-6);
  return CUDA_SUCCESS;
}
