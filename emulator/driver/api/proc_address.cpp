// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuGetProcAddress: a function by its name without suffix, as programs that load the driver at run time ask for it. The
// table is made of the names in cuda.h, which maps each to the version of this header.
#include "emulator/driver/module/inspect.h"
#include "emulator/driver/state.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

extern "C" CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);

#pragma clang diagnostic ignored "-Wdeprecated-declarations" // deprecated functions are still called

// clang-format off: it breaks inside the parentheses
#define TENON_FUNCTIONS(F) \
  F(cuInit) F(cuDriverGetVersion) F(cuGetErrorName) F(cuGetErrorString) F(cuGetProcAddress) F(cuDeviceGetCount) \
  F(cuDeviceGet) F(cuDeviceGetName) F(cuDeviceGetUuid) F(cuDeviceTotalMem) F(cuDeviceGetAttribute) \
  F(cuDeviceComputeCapability) F(cuDeviceGetPCIBusId) F(cuDevicePrimaryCtxRetain) F(cuDevicePrimaryCtxRelease) \
  F(cuDevicePrimaryCtxReset) F(cuDevicePrimaryCtxGetState) F(cuDevicePrimaryCtxSetFlags) F(cuCtxCreate) \
  F(cuCtxDestroy) F(cuCtxPushCurrent) F(cuCtxPopCurrent) F(cuCtxSetCurrent) F(cuCtxGetCurrent) F(cuCtxGetDevice) \
  F(cuCtxGetFlags) F(cuCtxSynchronize) F(cuCtxSetLimit) F(cuCtxGetLimit) F(cuCtxGetStreamPriorityRange) \
  F(cuCtxGetApiVersion) F(cuModuleLoadData) F(cuModuleLoadDataEx) F(cuModuleUnload) F(cuModuleGetFunction) \
  F(cuModuleGetFunctionCount) F(cuModuleGetGlobal) F(cuModuleGetLoadingMode) F(cuLibraryLoadData) F(cuLibraryUnload) \
  F(cuLibraryGetKernel) F(cuLibraryGetKernelCount) F(cuLibraryGetModule) F(cuLibraryGetGlobal) \
  F(cuKernelGetFunction) F(cuKernelGetAttribute) F(cuKernelSetAttribute) F(cuKernelGetName) F(cuKernelGetParamInfo) \
  F(cuFuncGetAttribute) F(cuFuncSetAttribute) F(cuFuncSetCacheConfig) F(cuFuncGetName) F(cuFuncGetModule) \
  F(cuFuncGetParamInfo) F(cuFuncIsLoaded) F(cuFuncLoad) F(cuMemAlloc) F(cuMemAllocAsync) F(cuMemAllocPitch) \
  F(cuMemAllocManaged) F(cuMemFree) F(cuMemFreeAsync) F(cuMemHostAlloc) F(cuMemAllocHost) F(cuMemFreeHost) \
  F(cuMemHostGetDevicePointer) F(cuMemHostGetFlags) F(cuMemHostRegister) F(cuMemHostUnregister) F(cuMemGetInfo) \
  F(cuMemGetAddressRange) F(cuPointerGetAttribute) F(cuMemcpy) F(cuMemcpyAsync) F(cuMemcpyHtoD) F(cuMemcpyHtoDAsync) \
  F(cuMemcpyDtoH) F(cuMemcpyDtoHAsync) F(cuMemcpyDtoD) F(cuMemcpyDtoDAsync) F(cuMemcpyPeer) F(cuMemcpyPeerAsync) \
  F(cuMemcpy2D) F(cuMemcpy2DUnaligned) F(cuMemcpy2DAsync) F(cuMemcpy3D) F(cuMemcpy3DAsync) F(cuMemsetD8) \
  F(cuMemsetD16) F(cuMemsetD32) F(cuMemsetD8Async) F(cuMemsetD16Async) F(cuMemsetD32Async) F(cuMemsetD2D8) \
  F(cuMemsetD2D16) F(cuMemsetD2D32) F(cuStreamCreate) F(cuStreamCreateWithPriority) F(cuStreamDestroy) \
  F(cuStreamSynchronize) F(cuStreamQuery) F(cuStreamWaitEvent) F(cuStreamGetPriority) F(cuStreamGetFlags) \
  F(cuStreamGetId) F(cuStreamGetCtx) F(cuStreamIsCapturing) F(cuLaunchHostFunc) F(cuEventCreate) F(cuEventDestroy) \
  F(cuEventRecord) F(cuEventRecordWithFlags) F(cuEventQuery) F(cuEventSynchronize) F(cuEventElapsedTime) \
  F(cuLaunchKernel) F(cuLaunchKernelEx) F(cuLaunchCooperativeKernel) F(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) F(cuOccupancyMaxPotentialBlockSize) F(cuMemsetD2D8Async) \
  F(cuMemsetD2D16Async) F(cuMemsetD2D32Async) F(cuStreamAddCallback) F(cuStreamGetDevice) F(cuStreamBeginCapture) \
  F(cuStreamBeginCaptureToGraph) F(cuStreamEndCapture) F(cuStreamGetCaptureInfo) \
  F(cuStreamUpdateCaptureDependencies) F(cuThreadExchangeStreamCaptureMode) F(cuStreamWaitValue32) \
  F(cuStreamWaitValue64) F(cuStreamWriteValue32) F(cuStreamWriteValue64) F(cuStreamBatchMemOp) F(cuGraphCreate) \
  F(cuGraphDestroy) F(cuGraphClone) F(cuGraphNodeFindInClone) F(cuGraphNodeGetType) F(cuGraphGetNodes) \
  F(cuGraphGetRootNodes) F(cuGraphGetEdges) F(cuGraphNodeGetDependencies) F(cuGraphNodeGetDependentNodes) \
  F(cuGraphAddDependencies) F(cuGraphRemoveDependencies) F(cuGraphDestroyNode) F(cuGraphAddKernelNode) \
  F(cuGraphKernelNodeGetParams) F(cuGraphKernelNodeSetParams) F(cuGraphKernelNodeSetAttribute) \
  F(cuGraphKernelNodeGetAttribute) F(cuGraphKernelNodeCopyAttributes) F(cuGraphAddMemcpyNode) \
  F(cuGraphMemcpyNodeGetParams) F(cuGraphMemcpyNodeSetParams) F(cuGraphAddMemsetNode) F(cuGraphMemsetNodeGetParams) \
  F(cuGraphMemsetNodeSetParams) F(cuGraphAddHostNode) F(cuGraphHostNodeGetParams) F(cuGraphHostNodeSetParams) \
  F(cuGraphAddEmptyNode) F(cuGraphAddChildGraphNode) F(cuGraphChildGraphNodeGetGraph) F(cuGraphAddEventRecordNode) \
  F(cuGraphEventRecordNodeGetEvent) F(cuGraphEventRecordNodeSetEvent) F(cuGraphAddEventWaitNode) \
  F(cuGraphEventWaitNodeGetEvent) F(cuGraphEventWaitNodeSetEvent) F(cuGraphAddMemAllocNode) \
  F(cuGraphMemAllocNodeGetParams) F(cuGraphAddMemFreeNode) F(cuGraphMemFreeNodeGetParams) \
  F(cuGraphAddBatchMemOpNode) F(cuGraphBatchMemOpNodeGetParams) F(cuGraphBatchMemOpNodeSetParams) F(cuGraphAddNode) \
  F(cuGraphNodeSetParams) F(cuGraphInstantiateWithFlags) F(cuGraphInstantiateWithParams) F(cuGraphExecGetFlags) \
  F(cuGraphExecDestroy) F(cuGraphUpload) F(cuGraphLaunch) F(cuGraphExecKernelNodeSetParams) \
  F(cuGraphExecMemcpyNodeSetParams) F(cuGraphExecMemsetNodeSetParams) F(cuGraphExecHostNodeSetParams) \
  F(cuGraphExecChildGraphNodeSetParams) F(cuGraphExecEventRecordNodeSetEvent) F(cuGraphExecEventWaitNodeSetEvent) \
  F(cuGraphExecBatchMemOpNodeSetParams) F(cuGraphExecNodeSetParams) F(cuGraphNodeSetEnabled) \
  F(cuGraphNodeGetEnabled) F(cuGraphExecUpdate) F(cuGraphDebugDotPrint) F(cuDeviceGetDefaultMemPool) \
  F(cuDeviceGetMemPool) F(cuDeviceSetMemPool) F(cuMemPoolCreate) F(cuMemPoolDestroy) F(cuMemPoolTrimTo) \
  F(cuMemPoolSetAttribute) F(cuMemPoolGetAttribute) F(cuMemAllocFromPoolAsync) F(cuMemPoolExportToShareableHandle) \
  F(cuMemPoolImportFromShareableHandle) F(cuMemPoolExportPointer) F(cuMemPoolImportPointer) F(cuDeviceCanAccessPeer) \
  F(cuMemGetAllocationGranularity) F(cuMemCreate) F(cuMemRelease) F(cuMemAddressReserve) F(cuMemAddressFree) \
  F(cuMemMap) F(cuMemUnmap) F(cuMemSetAccess) F(cuMemRetainAllocationHandle) F(cuMemExportToShareableHandle) \
  F(cuMemImportFromShareableHandle) F(cuDeviceGetP2PAttribute) F(cuCtxEnablePeerAccess) F(cuCtxDisablePeerAccess) \
  F(cuTensorMapEncodeTiled) F(cuTensorMapEncodeIm2col) F(cuTensorMapEncodeIm2colWide) F(cuTensorMapReplaceAddress)
// clang-format on

namespace {

struct Entry {
  const char *name;
  void *address;
};

/// Not part of CUDA: the report of the last kernel that failed, NUL-terminated. Returns its length.
size_t lastReport(char *buffer, size_t capacity) {
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  if (buffer && capacity) {
    size_t bytes = std::min(driver.lastReport.size(), capacity - 1);
    memcpy(buffer, driver.lastReport.data(), bytes);
    buffer[bytes] = 0;
  }
  return driver.lastReport.size();
}

#define TENON_ENTRY(f) {#f, reinterpret_cast<void *>(&f)},
const Entry kEntries[] = {TENON_FUNCTIONS(TENON_ENTRY)};
#undef TENON_ENTRY

/// Not part of CUDA: name and address of function `index`. False: there are no more.
bool functionAt(size_t index, const char **name, void **address) {
  if (index >= std::size(kEntries))
    return false;
  *name = kEntries[index].name;
  *address = kEntries[index].address;
  return true;
}

/// Not part of CUDA: what TENON_EMULATOR_ORDER says, from now on. False: `order` is not understood.
bool setOrder(const char *order) {
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  return driver.queue.idle() && driver.queue.setOrder(order);
}

/// Not part of CUDA: thread instructions that all launches executed so far, for benchmarks.
uint64_t threadInstructions() {
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  return driver.threadInstructions;
}

/// Not part of CUDA: parameter `index` of the kernel is a pointer that it must not write through. name: what a report
/// calls it. False: no such kernel or no such pointer.
bool readOnlyParameter(CUfunction function, size_t index, const char *name) {
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  Kernel *kernel = reinterpret_cast<Kernel *>(function);
  if (!driver.kernels.count(kernel) || index >= kernel->decoded->parameters.size() ||
      kernel->decoded->parameters[index].bytes != sizeof(CUdeviceptr))
    return false;
  kernel->readOnlyParameters[index] = name && *name ? name : "parameter " + std::to_string(index);
  return true;
}

/// The emulator's own functions, which no program of a GPU asks for. They are not counted as calls of the driver.
const Entry kOwnEntries[] = {{"tenonEmulatorLastReport", reinterpret_cast<void *>(&lastReport)},
                             {"tenonEmulatorThreadInstructions", reinterpret_cast<void *>(&threadInstructions)},
                             {"tenonEmulatorReadOnlyParameter", reinterpret_cast<void *>(&readOnlyParameter)},
                             {"tenonEmulatorFunctionAt", reinterpret_cast<void *>(&functionAt)},
                             {"tenonEmulatorSetOrder", reinterpret_cast<void *>(&setOrder)},
                             {"tenonEmulatorSetFaults", reinterpret_cast<void *>(&setFaults)},
                             {"tenonEmulatorFaultsMade", reinterpret_cast<void *>(&faultsMade)},
                             {"tenonEmulatorLiveObjects", reinterpret_cast<void *>(&liveObjects)}};

} // namespace

std::vector<std::string> tenon::emulator::driverFunctions() {
  std::vector<std::string> names;
  for (const Entry &entry : kEntries)
    names.push_back(entry.name);
  return names;
}

CUresult cuGetProcAddress(const char *symbol, void **out, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status) {
  if (symbol && out)
    for (const Entry &entry : kOwnEntries)
      if (!strcmp(entry.name, symbol)) {
        *out = entry.address;
        if (status)
          *status = CU_GET_PROC_ADDRESS_SUCCESS;
        return CUDA_SUCCESS;
      }
  TENON_CALL();
  if (!symbol || !out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  if (!strcmp(symbol, "cuGraphInstantiate")) // cuda.h gives the function another name, not another version
    symbol = "cuGraphInstantiateWithFlags";
  // A context of before 12.5 took other arguments.
  if (!strcmp(symbol, "cuCtxCreate") && version < 13000)
    *out = reinterpret_cast<void *>(&cuCtxCreate_v2);
  else
    for (const Entry &entry : kEntries)
      if (!strcmp(entry.name, symbol))
        *out = entry.address;
  if (status)
    *status = *out ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
