// Virtual memory of the fake driver: addresses are host memory, a handle is a number, a descriptor a file's.
#include "fake_driver_calls.h"

#include <cstdlib>
#include <sys/mman.h>

using namespace tenon::test;

FAKE CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *,
                                            CUmemAllocationGranularity_flags) {
  ENTER();
  *bytes = 4096;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t, const CUmemAllocationProp *,
                          unsigned long long) {
  ENTER();
  ++fake().liveHandles;
  *handle = 1;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemRelease(CUmemGenericAllocationHandle) {
  ENTER();
  --fake().liveHandles;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  ENTER();
  ++fake().liveReservations;
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(4096, bytes));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemAddressFree(CUdeviceptr address, size_t) {
  ENTER();
  --fake().liveReservations;
  std::free(reinterpret_cast<void *>(address));
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) {
  ENTER();
  ++fake().liveMappings;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemUnmap(CUdeviceptr, size_t) {
  ENTER();
  --fake().liveMappings;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t) {
  ENTER();
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *) {
  ENTER();
  ++fake().liveHandles;
  *handle = 1;
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
                                           unsigned long long) {
  ENTER();
  *static_cast<int *>(out) = memfd_create("fake", 0);
  return CUDA_SUCCESS;
}
FAKE CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *, CUmemAllocationHandleType) {
  ENTER();
  ++fake().liveHandles;
  *handle = 1;
  return CUDA_SUCCESS;
}
