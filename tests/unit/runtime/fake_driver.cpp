#include "fake_driver_calls.h"

#include <cstdlib>
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

CUresult launch(FakeLaunch launch, CUfunction function, void **parameters) {
  launch.kernel = kernelName(function);
  launch.parameters = parameters;
  auto kernel = fake().kernels.find(launch.kernel);
  if (kernel != fake().kernels.end())
    kernel->second(launch);
  launch.parameters = nullptr;
  fake().launches.push_back(launch);
  return CUDA_SUCCESS;
}

namespace {
struct Function {
  std::string name;
};
} // namespace

const std::string &kernelName(CUfunction function) {
  return reinterpret_cast<Function *>(function)->name;
}

} // namespace tenon::test

using namespace tenon::test;

namespace {

struct Module {
  std::string image;
};
template <typename T> CUresult set(CUdeviceptr target, T value, size_t count) {
  for (size_t i = 0; i < count; ++i)
    reinterpret_cast<T *>(target)[i] = value;
  return CUDA_SUCCESS;
}

} // namespace

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
FAKE CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  ENTER();
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  ++fake().liveAllocations;
  *pointer = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemFree_v2(CUdeviceptr pointer) {
  ENTER();
  --fake().liveAllocations;
  std::free(reinterpret_cast<void *>(pointer));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream) {
  ENTER();
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  ++fake().liveAllocations;
  *pointer = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream) {
  ENTER();
  --fake().liveAllocations;
  std::free(reinterpret_cast<void *>(pointer));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *) {
  ENTER();
  ++fake().livePools;
  *pool = reinterpret_cast<CUmemoryPool>(&fake());
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemPoolDestroy(CUmemoryPool) {
  ENTER();
  --fake().livePools;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void *) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemPoolTrimTo(CUmemoryPool, size_t) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool, CUstream) {
  ENTER();
  ++fake().liveAllocations;
  *pointer = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes, CUstream) {
  ENTER();
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream) {
  ENTER();
  std::memcpy(target, reinterpret_cast<void *>(source), bytes);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream) {
  ENTER();
  std::memcpy(reinterpret_cast<void *>(target), reinterpret_cast<void *>(source), bytes);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream) {
  ENTER();
  return set<uint8_t>(target, value, count);
}
FAKE CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count, CUstream) {
  ENTER();
  return set<uint16_t>(target, value, count);
}
FAKE CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream) {
  ENTER();
  return set<uint32_t>(target, value, count);
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
FAKE CUresult cuCtxSynchronize() {
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
FAKE CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  ENTER();
  ++fake().liveAllocations;
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemFreeHost(void *pointer) {
  ENTER();
  --fake().liveAllocations;
  std::free(pointer);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned) {
  ENTER();
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemHostRegister_v2(void *, size_t, unsigned) {
  ENTER();
  ++fake().liveRegistrations;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemHostUnregister(void *) {
  ENTER();
  --fake().liveRegistrations;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  ENTER();
  *freeBytes = 1000, *totalBytes = 4000;
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
FAKE CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                                 void **values) {
  ENTER();
  const std::string text(static_cast<const char *>(image)); // NUL-terminated, or the address sanitizer says so
  fake().loadedImages.push_back(text);
  for (const auto &[part, result] : fake().refusedImages) {
    if (text.find(part) == std::string::npos)
      continue;
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        std::strcpy(static_cast<char *>(values[i]), fake().jitLog.c_str());
    return static_cast<CUresult>(result);
  }
  ++fake().liveModules;
  *module = reinterpret_cast<CUmodule>(new Module{text});
  return CUDA_SUCCESS;
}
FAKE CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule, const char *name) {
  ENTER();
  auto global = fake().globals.find(name);
  if (global == fake().globals.end())
    return CUDA_ERROR_NOT_FOUND;
  *address = reinterpret_cast<CUdeviceptr>(global->second.data());
  *bytes = global->second.size();
  return CUDA_SUCCESS;
}
FAKE CUresult cuLinkCreate_v2(unsigned, CUjit_option *, void **, CUlinkState *state) {
  ENTER();
  ++fake().liveLinks;
  *state = reinterpret_cast<CUlinkState>(new std::string());
  return CUDA_SUCCESS;
}
FAKE CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType, void *data, size_t, const char *, unsigned,
                               CUjit_option *, void **) {
  ENTER();
  *reinterpret_cast<std::string *>(state) = std::string("cubin of ") + static_cast<const char *>(data);
  return CUDA_SUCCESS;
}
FAKE CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes) {
  ENTER();
  auto *text = reinterpret_cast<std::string *>(state);
  *cubin = text->data(), *bytes = text->size();
  return CUDA_SUCCESS;
}
FAKE CUresult cuLinkDestroy(CUlinkState state) {
  ENTER();
  --fake().liveLinks;
  delete reinterpret_cast<std::string *>(state);
  return CUDA_SUCCESS;
}
FAKE CUresult cuModuleUnload(CUmodule module) {
  ENTER();
  --fake().liveModules;
  delete reinterpret_cast<Module *>(module);
  return CUDA_SUCCESS;
}
FAKE CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  ENTER();
  static std::map<std::string, Function> functions; // they live as long as the process
  Function *known = &functions.try_emplace(name, Function{name}).first->second;
  *function = reinterpret_cast<CUfunction>(known);
  return CUDA_SUCCESS;
}
FAKE CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  ENTER();
  const std::string &name = kernelName(function);
  auto lookup = [&](const std::map<std::string, int> &values, int otherwise) {
    auto found = values.find(name);
    return found == values.end() ? otherwise : found->second;
  };
  switch (static_cast<int>(attribute)) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = lookup(fake().functionThreads, 1024);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = lookup(fake().functionShared, 0);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = 80;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = 10 * fake().major + fake().minor;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}
FAKE CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  ENTER();
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    fake().dynamicSharedAttribute[kernelName(function)] = value;
  return CUDA_SUCCESS;
}
FAKE CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  ENTER();
  auto found = fake().parameters.find(kernelName(function));
  if (found == fake().parameters.end())
    return CUDA_ERROR_NOT_SUPPORTED;
  if (index >= found->second.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = found->second[index].first;
  *size = found->second[index].second;
  return CUDA_SUCCESS;
}
FAKE CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned sharedBytes, CUstream, void **parameters, void **) {
  ENTER();
  return launch({.grid = {gx, gy, gz}, .block = {bx, by, bz}, .sharedBytes = sharedBytes}, function, parameters);
}
FAKE CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **) {
  ENTER();
  return launch({.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                 .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                 .sharedBytes = config->sharedMemBytes,
                 .extended = true,
                 .attributes = config->numAttrs},
                function, parameters);
}
