// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fake driver itself, its devices, contexts, streams and events. Memory, code and graphs have files of their own.
#include "tests/unit/runtime/fake_driver_calls.h"

#include <cstring>

FAKE tenon::test::FakeDriver *tenonFakeDriver() {
  static auto *driver = new tenon::test::FakeDriver();
  return driver;
}

namespace tenon::test {

FakeDriver &fake() {
  return *tenonFakeDriver();
}

std::mutex &mutex() {
  static std::mutex *mutex = new std::mutex();
  return *mutex;
}

CUresult enter(const char *function) {
  FakeDriver &driver = fake();
  driver.calls.push_back(function);
  if (static_cast<int>(driver.calls.size()) - 1 == driver.failAtCall)
    return CUDA_ERROR_OUT_OF_MEMORY;
  auto failure = driver.failures.find(function);
  if (failure == driver.failures.end())
    return CUDA_SUCCESS;
  auto left = driver.failuresLeft.find(function);
  if (left != driver.failuresLeft.end() && left->second-- <= 0)
    return CUDA_SUCCESS;
  return static_cast<CUresult>(failure->second);
}

} // namespace tenon::test

using namespace tenon::test;

FAKE CUresult cuInit(unsigned) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuDriverGetVersion(int *version) {
  ENTER();
  *version = fake().version;
  return CUDA_SUCCESS;
}
FAKE CUresult cuGetErrorName(CUresult error, const char **name) {
  if (error == CUDA_ERROR_OUT_OF_MEMORY)
    *name = "CUDA_ERROR_OUT_OF_MEMORY";
  else if (error == CUDA_ERROR_INVALID_PTX)
    *name = "CUDA_ERROR_INVALID_PTX";
  else if (error == CUDA_ERROR_ILLEGAL_ADDRESS)
    *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
FAKE CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "the fake driver says so";
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGetCount(int *count) {
  ENTER();
  *count = fake().deviceCount;
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER();
  *device = ordinal;
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGetName(char *name, int bytes, CUdevice) {
  ENTER();
  std::strncpy(name, fake().deviceName.c_str(), static_cast<size_t>(bytes));
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
  ENTER();
  const FakeDriver &driver = fake();
  const std::map<int, int> values = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, driver.major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, driver.minor},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, driver.threads},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, driver.sharedBytes},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, driver.sharedOptinBytes},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, driver.memoryPools},
  };
  auto found = values.find(attribute);
  if (found == values.end())
    return CUDA_ERROR_INVALID_VALUE;
  *value = found->second;
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  ENTER();
  *bytes = size_t(1) << 30;
  return CUDA_SUCCESS;
}
FAKE CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  ENTER();
  std::memset(uuid->bytes, 0xa0 + device, sizeof(uuid->bytes));
  return CUDA_SUCCESS;
}
FAKE CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  ENTER();
  ++fake().retained;
  *context = reinterpret_cast<CUcontext>(&fake());
  return CUDA_SUCCESS;
}
FAKE CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  ENTER();
  --fake().retained;
  return CUDA_SUCCESS;
}
FAKE CUresult cuCtxPushCurrent_v2(CUcontext) {
  ENTER();
  ++fake().contextDepth;
  return CUDA_SUCCESS;
}
FAKE CUresult cuCtxPopCurrent_v2(CUcontext *) {
  ENTER();
  --fake().contextDepth;
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamCreate(CUstream *stream, unsigned) {
  ENTER();
  ++fake().liveStreams;
  *stream = reinterpret_cast<CUstream>(&fake());
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamDestroy_v2(CUstream) {
  ENTER();
  --fake().liveStreams;
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamSynchronize(CUstream) {
  ENTER();
  return fake().sticky;
}
FAKE CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
  ENTER();
  *id = reinterpret_cast<uintptr_t>(stream);
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  ENTER();
  *status = stream && stream == fake().capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
FAKE CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  ENTER();
  std::swap(*mode, fake().captureMode);
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventCreate(CUevent *event, unsigned) {
  ENTER();
  ++fake().liveEvents;
  *event = reinterpret_cast<CUevent>(&fake());
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventDestroy_v2(CUevent) {
  ENTER();
  --fake().liveEvents;
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventRecord(CUevent, CUstream) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventSynchronize(CUevent) {
  ENTER();
  return fake().sticky;
}
FAKE CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent, CUevent) {
  ENTER();
  *milliseconds = fake().elapsedMilliseconds;
  return CUDA_SUCCESS;
}
