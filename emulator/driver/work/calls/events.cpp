// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of events. Time is virtual: it grows with the instructions that ran.
#include "emulator/driver/call.h"
#include "emulator/driver/memory/memory_pool.h"
#include "emulator/driver/work/capture.h"
#include "emulator/driver/work/enqueue.h"
#include "emulator/driver/work/event.h"

using namespace tenon;
using namespace tenon::emulator;

CUresult cuEventCreate(CUevent *out, unsigned flags) {
  TENON_ENTER_CONTEXT();
  if (!out || flags > 7 || ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_EVENT_INTERPROCESS)
    return CUDA_ERROR_NOT_SUPPORTED;
  Event *event = new Event;
  event->context = context;
  event->flags = flags;
  driver.events.insert(event);
  *out = reinterpret_cast<CUevent>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent handle) {
  TENON_ENTER_CONTEXT();
  Event *event = findEvent(handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  driver.events.erase(event);
  delete event;
  return CUDA_SUCCESS;
}
CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  Event *event = findEvent(handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL))
    return CUDA_ERROR_INVALID_VALUE;
  if (event->context != on->context)
    return CUDA_ERROR_INVALID_HANDLE;
  if (isCapturing(*on) && !flags)
    return captureEvent(*on, *event);
  if (flags && !isCapturing(*on))
    return CUDA_ERROR_ILLEGAL_STATE;
  CUresult result = enqueue(*on, EventRecordWork{event});
  if (result == CUDA_SUCCESS && !isCapturing(*on)) {
    event->captured.reset();
    event->recorded = on->tail;
  }
  return result;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  TENON_CALL();
  return cuEventRecordWithFlags(event, stream, 0);
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned flags) {
  TENON_ENTER_CONTEXT();
  TENON_STREAM(on, stream);
  Event *event = findEvent(handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags && !isCapturing(*on))
    return CUDA_ERROR_ILLEGAL_STATE;
  if (!flags && (isCapturing(*on) || event->captured))
    return joinCapture(*on, *event);
  if (flags)
    return enqueue(*on, EventWaitWork{event});
  if (isDone(event->recorded))
    return CUDA_SUCCESS;
  submitTo(*on, EventWaitWork{event}, event->recorded);
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent handle) {
  TENON_ENTER_CONTEXT();
  Event *event = findEvent(handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->captured)
    return CUDA_ERROR_CAPTURED_EVENT;
  TENON_UNSAFE_CALL();
  bool done = driver.queue.poll(event->recorded);
  return context->sticky ? static_cast<CUresult>(context->sticky) : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuEventSynchronize(CUevent handle) {
  TENON_ENTER_CONTEXT();
  Event *event = findEvent(handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->captured)
    return CUDA_ERROR_CAPTURED_EVENT;
  OperationPtr recorded = event->recorded; // the event may be recorded again, or go
  CUresult result = driver.queue.finish(recorded);
  trimPools(driver);
  return result;
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent first, CUevent second) {
  TENON_ENTER_CONTEXT();
  Event *begin = findEvent(first), *end = findEvent(second);
  if (!begin || !end)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  if (begin->captured || end->captured)
    return CUDA_ERROR_CAPTURED_EVENT;
  if (begin->context->device != end->context->device)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!begin->recorded || !end->recorded || ((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!isDone(begin->recorded) || !isDone(end->recorded))
    return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(
      (static_cast<double>(end->recorded->time) - static_cast<double>(begin->recorded->time)) * 1e-6);
  return CUDA_SUCCESS;
}
