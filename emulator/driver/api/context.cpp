// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of contexts: one primary context per device, counted, and those that a program creates; each thread has
// a stack of current ones. A context that goes takes with it all that was made in it, so this lies behind the other
// rooms.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/memory/memory_pool.h"
#include "emulator/driver/memory/virtual_memory.h"
#include "emulator/driver/module/module.h"
#include "emulator/driver/work/capture.h"
#include "emulator/driver/work/event.h"
#include "emulator/driver/work/stream.h"

#include <algorithm>
#include <cstdio>

using namespace tenon;
using namespace tenon::emulator;

namespace {

void initialiseContext(Context &context) {
  context.defaultStream = std::make_shared<Stream>();
  context.defaultStream->context = &context;
  context.defaultStream->isLegacy = true;
}

void activatePrimary(Device &device) {
  if (!device.primary) {
    device.primary = std::make_unique<Context>();
    device.primary->device = &device;
    device.primary->isPrimary = true;
    driver().contexts.insert(device.primary.get());
  }
  Context &context = *device.primary;
  if (!context.active) {
    context.active = true;
    context.sticky = 0;
    initialiseContext(context);
  }
}

/// Everything goes, but for the registrations of host memory, which hold for every device.
void resetMemory(Device &device) {
  Driver &driver = tenon::emulator::driver();
  dropAddressRanges(driver, device);
  device.memory->reset();
  device.pooledAllocations.clear();
  defaultPool(device).used = 0;
  for (MemoryPool *pool : driver.pools)
    if (pool->device == &device)
      pool->used = 0;
  driver.registered.forEach(
      [&](const RegisteredRanges::Range &range) { device.memory->registerHost(range.begin, range.bytes); });
}

/// Frees what belongs to the context.
void destroyContents(Context *context) {
  // What was enqueued runs to its end, as on a device; after a failure nothing does.
  Driver &driver = tenon::emulator::driver();
  driver.queue.finishAll(context);
  driver.queue.drop(context);
  context->defaultStream->tail = nullptr;
  for (auto &[thread, stream] : context->perThreadStreams)
    forgetCapture(*stream);
  context->perThreadStreams.clear();
  context->orphans.clear();
  for (auto it = driver.modules.begin(); it != driver.modules.end();) {
    Module *module = *it++;
    if (module->context == context)
      unloadModule(module);
  }
  for (auto it = driver.streams.begin(); it != driver.streams.end();) {
    Stream *stream = *it++;
    if (stream->context == context) {
      forgetCapture(*stream);
      driver.streams.erase(stream);
      delete stream;
    }
  }
  for (auto it = driver.events.begin(); it != driver.events.end();) {
    Event *event = *it++;
    if (event->context == context) {
      driver.events.erase(event);
      delete event;
    }
  }
  // Contexts of one device share its memory only by name: with one left, everything goes.
  bool others = std::any_of(driver.contexts.begin(), driver.contexts.end(), [&](Context *other) {
    return other != context && other->active && other->device == context->device;
  });
  if (!others && driver.checks.leaks)
    for (const auto &[begin, allocation] : context->device->memory->live())
      if (allocation.kind != AllocationKind::Variable && allocation.kind != AllocationKind::Constant &&
          allocation.kind != AllocationKind::Registered)
        fprintf(stderr, "tenon emulator: leak: %s is still there when its context is destroyed\n",
                context->device->memory->describe(begin).c_str());
  if (!others)
    resetMemory(*context->device);
  context->peers.clear();
  context->gridWorkspace = 0;
  context->services = {};
  context->active = false;
  context->sticky = 0;
}

CUcontext handleOf(Context *context) {
  return reinterpret_cast<CUcontext>(context);
}
} // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  if (driver.lost)
    return static_cast<CUresult>(driver.lost);
  activatePrimary(*device);
  ++device->primaryReferences;
  *out = handleOf(device->primary.get());
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (device->primaryReferences == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--device->primaryReferences == 0 && device->primary->active)
    destroyContents(device->primary.get());
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  // The context stays destroyed until it is retained again, as on a device: calls in it return CONTEXT_IS_DESTROYED.
  if (device->primary && device->primary->active)
    destroyContents(device->primary.get());
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!flags || !active)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = device->primaryFlags;
  *active = device->primary && device->primary->active;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  device->primaryFlags = flags;
  return CUDA_SUCCESS;
}

namespace {
CUresult createContext(Driver &driver, CUcontext *out, unsigned flags, CUdevice ordinal) {
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  if (driver.lost)
    return static_cast<CUresult>(driver.lost);
  auto context = std::make_unique<Context>();
  context->device = device;
  context->flags = flags;
  context->active = true;
  initialiseContext(*context);
  driver.contexts.insert(context.get());
  contextStack().push_back(context.get());
  *out = handleOf(context.get());
  driver.ownedContexts.push_back(std::move(context));
  return CUDA_SUCCESS;
}
} // namespace

CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *parameters, unsigned flags, CUdevice ordinal) {
  TENON_ENTER();
  if (parameters && parameters->numExecAffinityParams)
    return CUDA_ERROR_NOT_SUPPORTED;
  return createContext(driver, out, flags, ordinal);
}
extern "C" CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice ordinal) {
  TENON_ENTER();
  return createContext(driver, out, flags, ordinal);
}

CUresult cuCtxDestroy(CUcontext handle) {
  TENON_ENTER();
  Context *context = findContext(handle);
  if (!context || context->isPrimary)
    return CUDA_ERROR_INVALID_CONTEXT;
  destroyContents(context);
  std::vector<Context *> &stack = contextStack();
  if (!stack.empty() && stack.back() == context)
    stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext handle) {
  TENON_ENTER();
  Context *context = findContext(handle);
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  contextStack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *out) {
  TENON_ENTER();
  std::vector<Context *> &stack = contextStack();
  if (stack.empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (out)
    *out = handleOf(stack.back());
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  TENON_ENTER();
  std::vector<Context *> &stack = contextStack();
  if (!handle) {
    if (!stack.empty())
      stack.pop_back();
    return CUDA_SUCCESS;
  }
  // A primary context that was reset may be made current; calls in it fail.
  auto *context = reinterpret_cast<Context *>(handle);
  if (!driver.contexts.count(context) || (!context->active && !context->isPrimary))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (stack.empty())
    stack.push_back(context);
  else
    stack.back() = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *out) {
  TENON_ENTER();
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = handleOf(currentContext());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *out) {
  TENON_ENTER_CONTEXT();
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = context->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags) {
  TENON_ENTER_CONTEXT();
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  TENON_ENTER_CONTEXT();
  for (CaptureRule *capture : driver.captures)
    if (capture->context == context)
      return invalidateCaptures(context, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUresult result = driver.queue.finishAll(context);
  trimPools(driver);
  return result;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  TENON_ENTER_CONTEXT();
  switch (limit) {
  case CU_LIMIT_STACK_SIZE:
    context->stackLimit = std::min<size_t>(value, 512 << 10);
    return CUDA_SUCCESS;
  case CU_LIMIT_PRINTF_FIFO_SIZE:
    context->printfLimit = value;
    return CUDA_SUCCESS;
  case CU_LIMIT_MALLOC_HEAP_SIZE:
    context->heapLimit = value;
    context->services.heapLimit = value;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  TENON_ENTER_CONTEXT();
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  switch (limit) {
  case CU_LIMIT_STACK_SIZE:
    *value = context->stackLimit;
    return CUDA_SUCCESS;
  case CU_LIMIT_PRINTF_FIFO_SIZE:
    *value = context->printfLimit;
    return CUDA_SUCCESS;
  case CU_LIMIT_MALLOC_HEAP_SIZE:
    *value = context->heapLimit;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  TENON_ENTER_CONTEXT();
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned *version) {
  TENON_ENTER();
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  if (handle && !findContext(handle))
    return CUDA_ERROR_INVALID_CONTEXT;
  *version = 3020;
  return CUDA_SUCCESS;
}
