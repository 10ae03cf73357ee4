// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of kernels (cuKernel..., cuFunc...): attributes, names and parameters.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/module/module.h"

using namespace tenon;
using namespace tenon::emulator;

namespace {

/// Of .reqnctapercluster; 0: the kernel does not say.
int requiredCluster(const DecodedKernel &decoded, size_t dimension) {
  const auto &wanted = decoded.entry->requiredCluster;
  return wanted ? static_cast<int>((*wanted)[dimension]) : 0;
}

CUresult getAttribute(int *value, CUfunction_attribute attribute, Kernel *kernel) {
  if (!value || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  const DecodedKernel &decoded = *kernel->decoded;
  const Device &device = *kernel->module->context->device;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = static_cast<int>(decoded.maxThreads);
    break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = static_cast<int>(decoded.staticShared);
    break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
    uint64_t bytes = 0;
    for (const ptx::Variable &variable : kernel->module->source->variables)
      bytes += variable.space == ptx::StateSpace::Const ? variable.bytes() : 0;
    *value = static_cast<int>(bytes);
    break;
  }
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = static_cast<int>(decoded.localBytesPerThread);
    break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = static_cast<int>(decoded.registersPerThread);
    break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = kernel->module->source->target.number;
    break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = device.arch->number;
    break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = kernel->maxDynamicShared;
    break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *value = kernel->carveout;
    break;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    *value = decoded.entry->explicitCluster && !decoded.entry->requiredCluster;
    break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    *value = requiredCluster(decoded, 0);
    break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    *value = requiredCluster(decoded, 1);
    break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    *value = requiredCluster(decoded, 2);
    break;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    *value = kernel->nonPortableCluster;
    break;
  default:
    *value = 0;
    break;
  }
  return CUDA_SUCCESS;
}

CUresult setAttribute(CUfunction_attribute attribute, int value, Kernel *kernel) {
  const Device &device = *kernel->module->context->device;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    if (value < 0 || value + static_cast<int64_t>(kernel->decoded->staticShared) > device.arch->limits.blockSharedBytes)
      return CUDA_ERROR_INVALID_VALUE;
    kernel->maxDynamicShared = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    if (value < -1 || value > 100)
      return CUDA_ERROR_INVALID_VALUE;
    kernel->carveout = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    kernel->nonPortableCluster = value != 0;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult parameterInfo(Kernel *kernel, size_t index, size_t *offset, size_t *size) {
  if (!offset)
    return CUDA_ERROR_INVALID_VALUE;
  const auto &parameters = kernel->decoded->parameters;
  if (index >= parameters.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = parameters[index].offset;
  if (size)
    *size = parameters[index].bytes;
  return CUDA_SUCCESS;
}

} // namespace

CUresult cuKernelGetFunction(CUfunction *out, CUkernel handle) {
  TENON_ENTER_CONTEXT();
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  if (!findKernel(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  *out = reinterpret_cast<CUfunction>(handle);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel handle, CUdevice) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(handle);
  return kernel ? getAttribute(value, attribute, kernel) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(handle);
  return kernel ? setAttribute(attribute, value, kernel) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuKernelGetName(const char **name, CUkernel handle) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(handle);
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  *name = kernel->decoded->name.c_str();
  return CUDA_SUCCESS;
}
CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *size) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(handle);
  return kernel ? parameterInfo(kernel, index, offset, size) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(handle);
  return kernel ? getAttribute(value, attribute, kernel) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(handle);
  return kernel ? setAttribute(attribute, value, kernel) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  TENON_ENTER_CONTEXT();
  return findKernel(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuFuncGetName(const char **name, CUfunction handle) {
  TENON_CALL();
  return cuKernelGetName(name, reinterpret_cast<CUkernel>(handle));
}
CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(handle);
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  *out = reinterpret_cast<CUmodule>(kernel->module);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size) {
  TENON_CALL();
  return cuKernelGetParamInfo(reinterpret_cast<CUkernel>(handle), index, offset, size);
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
  TENON_ENTER_CONTEXT();
  if (!state)
    return CUDA_ERROR_INVALID_VALUE;
  if (!findKernel(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction handle) {
  TENON_ENTER_CONTEXT();
  return findKernel(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
