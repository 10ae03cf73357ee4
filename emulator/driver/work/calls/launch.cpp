// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches: arguments checked as a driver checks them, copied, enqueued. A kernel that fails leaves its error in the
// context, as on a device: the launch itself succeeds, every later call returns the error, and the report goes to
// stderr.
#include "emulator/driver/call.h"
#include "emulator/driver/module/module.h"
#include "emulator/driver/work/enqueue.h"
#include "emulator/driver/work/kernel_work.h"

using namespace tenon;
using namespace tenon::emulator;

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **parameters,
                        void **extra) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(on, stream);
  if (on->context != kernel->module->context)
    return CUDA_ERROR_INVALID_HANDLE;
  KernelWork work;
  CUresult result = makeKernelWork(kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, nullptr, sharedBytes, false,
                                   parameters, extra, work);
  return result != CUDA_SUCCESS ? result : enqueue(*on, std::move(work));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                                   void **parameters) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(on, stream);
  if (on->context != kernel->module->context)
    return CUDA_ERROR_INVALID_HANDLE;
  KernelWork work;
  CUresult result = makeKernelWork(kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, nullptr, sharedBytes, true,
                                   parameters, nullptr, work);
  return result != CUDA_SUCCESS ? result : enqueue(*on, std::move(work));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  TENON_STREAM(on, config->hStream);
  Dim3 cluster;
  bool cooperative = false, clusterSet = false;
  int priority = on->priority;
  for (unsigned k = 0; k < config->numAttrs; ++k) {
    const CUlaunchAttribute &attribute = config->attrs[k];
    switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      cooperative = attribute.value.cooperative;
      break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z};
      clusterSet = true;
      break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      priority = attribute.value.priority;
      break;
    // Scheduling hints change nothing where launches never overlap.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      break;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  KernelWork work;
  CUresult result =
      makeKernelWork(kernel, {config->gridDimX, config->gridDimY, config->gridDimZ},
                     {config->blockDimX, config->blockDimY, config->blockDimZ}, clusterSet ? &cluster : nullptr,
                     config->sharedMemBytes, cooperative, parameters, extra, work);
  work.priority = priority;
  return result != CUDA_SUCCESS ? result : enqueue(*on, std::move(work));
}
