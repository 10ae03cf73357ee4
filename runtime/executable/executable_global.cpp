// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables of an image as buffers.
#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/executable/executable.h"
#include "runtime/memory/allocator.h"

namespace tenon::runtime {

Result<std::shared_ptr<Buffer>> findGlobal(const std::shared_ptr<Executable> &executable, uint32_t ordinal,
                                           const std::string &name) {
  TENON_ASSIGN_OR_RETURN(const LoadedExport *loaded, executable->load(ordinal));
  Device &device = executable->device();
  const cuda::Driver &driver = device.driver();
  if (!driver.cuModuleGetGlobal_v2)
    return makeError(StatusCode::Unimplemented, "the driver '", driver.path(), "' has no cuModuleGetGlobal_v2");
  CUdeviceptr address = 0;
  size_t bytes = 0;
  {
    cuda::ContextScope scope = device.enter();
    TENON_RETURN_IF_ERROR(scope.status());
    const CUresult found = driver.cuModuleGetGlobal_v2(&address, &bytes, loaded->module, name.c_str());
    if (found == CUDA_ERROR_NOT_FOUND)
      return makeError(StatusCode::NotFound, "executable '", executable->view().name(), "': variant '",
                       loaded->variantName, "', from which export '", executable->exportAt(ordinal).name,
                       "' runs, has no visible global '", name,
                       "' (nvcc keeps variables to the image, but for -rdc=true)");
    TENON_RETURN_IF_ERROR(cuda::driverStatus(driver, found, concat("cuModuleGetGlobal_v2('", name, "')")));
  }
  return importDeviceMemory(device, address, bytes, {}, [executable] {}); // which keeps the module
}

} // namespace tenon::runtime
