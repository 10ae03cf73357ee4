// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries (cuLibrary...): modules that hand out kernels (CUkernel) where others hand out functions.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/module/module.h"

using namespace tenon;
using namespace tenon::emulator;

/// The library that a handle is; null: none, or a module that is no library.
static Module *libraryOf(Driver &driver, const void *handle) {
  Module *module = moduleOf(driver, handle);
  return module && module->isLibrary ? module : nullptr;
}

CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *jitOptions, void **jitValues,
                           unsigned jitCount, CUlibraryOption *, void **, unsigned) {
  TENON_ENTER_CONTEXT();
  if (!out || !code)
    return CUDA_ERROR_INVALID_VALUE;
  Module *module = nullptr;
  CUresult result = loadWithLogs(context, code, jitCount, jitOptions, jitValues, &module);
  if (result != CUDA_SUCCESS)
    return result;
  module->isLibrary = true;
  *out = reinterpret_cast<CUlibrary>(module);
  return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary handle) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  Module *module = libraryOf(driver, handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  unloadModule(module);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name) {
  TENON_ENTER_CONTEXT();
  Module *module = libraryOf(driver, handle);
  if (!out || !name)
    return CUDA_ERROR_INVALID_VALUE;
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  return findKernel(*module, name, reinterpret_cast<Kernel **>(out));
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary handle) {
  TENON_ENTER_CONTEXT();
  Module *module = libraryOf(driver, handle);
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned>(module->kernels.size());
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary handle) {
  TENON_ENTER_CONTEXT();
  Module *module = libraryOf(driver, handle);
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  *out = reinterpret_cast<CUmodule>(module);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary handle, const char *name) {
  TENON_CALL();
  return cuModuleGetGlobal(address, bytes, reinterpret_cast<CUmodule>(handle), name);
}
