// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handles, reserved addresses, mappings and their access. A range of addresses is mapped as a whole, to memory of the
// device whose context reserved it, for reading and writing: the rest is refused by CUDA_ERROR_NOT_SUPPORTED.
#include "emulator/driver/memory/virtual_memory.h"

#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/memory/sized_file.h"

#include <bit>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {

PhysicalMemory::~PhysicalMemory() {
  close(file);
}

/// Returns the handle of memory, which counts one more.
static CUmemGenericAllocationHandle addHandle(Driver &driver, const std::shared_ptr<PhysicalMemory> &memory) {
  const auto handle = reinterpret_cast<CUmemGenericAllocationHandle>(memory.get());
  if (!driver.physicalMemory.emplace(handle, memory).second)
    ++memory->handles;
  else
    memory->handles = 1;
  return handle;
}

/// False: nothing was mapped there.
static bool unmap(uint64_t address, AddressRange &range) {
  if (!range.mapped)
    return false;
  range.device->memory->retire(address);
  range.device->memory->unmapFile(address, range.bytes);
  range.mapped.reset();
  return true;
}

void dropAddressRanges(Driver &driver, Device &device) {
  auto &ranges = driver.addressRanges;
  for (auto it = ranges.begin(); it != ranges.end();)
    if (auto &[address, range] = *it; range->device == &device) {
      unmap(address, *range);
      device.memory->unreserve(address);
      it = ranges.erase(it);
    } else {
      ++it;
    }
}

} // namespace tenon::emulator

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

bool isWhole(uint64_t bytes) {
  return bytes != 0 && bytes % kVirtualGranularity == 0;
}

/// A file of so many bytes that stays as long, or -1.
int createFile(uint64_t bytes) {
  const int file = createSizedFile("tenon-device-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING, bytes);
  if (file >= 0 && fcntl(file, F_ADD_SEALS, kSeals) == 0)
    return file;
  if (file >= 0)
    close(file);
  return -1;
}

CUresult validateProperties(const CUmemAllocationProp *properties) {
  if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
       properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
    return CUDA_ERROR_NOT_SUPPORTED;
  return findDevice(properties->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// Null: no such handle, or all of its references were released.
std::shared_ptr<PhysicalMemory> findHandle(Driver &driver, CUmemGenericAllocationHandle handle) {
  auto it = driver.physicalMemory.find(handle);
  return it == driver.physicalMemory.end() ? nullptr : it->second;
}

/// The range that holds the address. Null: none.
AddressRange *findRange(Driver &driver, uint64_t address, uint64_t *begin = nullptr) {
  auto it = driver.addressRanges.upper_bound(address);
  if (it == driver.addressRanges.begin() || address - (--it)->first >= it->second->bytes)
    return nullptr;
  if (begin)
    *begin = it->first;
  return it->second.get();
}

/// Finds the range that is exactly this one.
CUresult findWhole(Driver &driver, uint64_t address, uint64_t bytes, AddressRange *&range) {
  uint64_t begin = 0;
  range = findRange(driver, address, &begin);
  if (!range || bytes > range->bytes - (address - begin))
    return CUDA_ERROR_INVALID_VALUE;
  return begin == address && range->bytes == bytes ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

} // namespace

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags option) {
  TENON_ENTER();
  if (!granularity || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = validateProperties(properties); result != CUDA_SUCCESS)
    return result;
  *granularity = kVirtualGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties,
                     unsigned long long flags) {
  TENON_ENTER();
  if (!handle || !isWhole(bytes) || flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = validateProperties(properties); result != CUDA_SUCCESS)
    return result;
  Device &device = *findDevice(properties->location.id);
  if (bytes > device.memory->size() - device.memory->used())
    return CUDA_ERROR_OUT_OF_MEMORY;
  const int file = createFile(bytes);
  if (file < 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const bool isExportable = properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  *handle = addHandle(driver, std::make_shared<PhysicalMemory>(device, bytes, file, isExportable));
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  TENON_ENTER();
  const std::shared_ptr<PhysicalMemory> memory = findHandle(driver, handle);
  if (!memory)
    return CUDA_ERROR_INVALID_VALUE;
  if (--memory->handles == 0)
    driver.physicalMemory.erase(handle);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr, // where it is wanted
                             unsigned long long flags) {
  TENON_ENTER_CONTEXT();
  if (!address || !isWhole(bytes) || flags || (alignment != 0 && !std::has_single_bit(alignment)))
    return CUDA_ERROR_INVALID_VALUE;
  Device &device = *context->device;
  const uint64_t begin =
      device.memory->reserve(bytes, AllocationKind::Mapped, std::max<uint64_t>(alignment, kVirtualGranularity));
  if (!begin)
    return CUDA_ERROR_OUT_OF_MEMORY;
  driver.addressRanges[begin] =
      std::make_shared<AddressRange>(AddressRange{.device = &device, .bytes = bytes, .mapped = nullptr});
  *address = begin;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  TENON_ENTER();
  AddressRange *range = nullptr;
  if (findWhole(driver, address, bytes, range) != CUDA_SUCCESS || range->mapped)
    return CUDA_ERROR_INVALID_VALUE;
  range->device->memory->unreserve(address);
  driver.addressRanges.erase(address);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  TENON_ENTER();
  const std::shared_ptr<PhysicalMemory> memory = findHandle(driver, handle);
  if (!memory || flags || offset % kVirtualGranularity || offset > memory->bytes || bytes > memory->bytes - offset)
    return CUDA_ERROR_INVALID_VALUE;
  AddressRange *range = nullptr;
  if (CUresult result = findWhole(driver, address, bytes, range); result != CUDA_SUCCESS)
    return result;
  if (range->mapped)
    return CUDA_ERROR_INVALID_VALUE;
  if (range->device != memory->device)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (!range->device->memory->mapFile(address, bytes, memory->file, offset))
    return CUDA_ERROR_OUT_OF_MEMORY;
  range->mapped = memory;
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  TENON_ENTER();
  AddressRange *range = nullptr;
  if (CUresult result = findWhole(driver, address, bytes, range); result != CUDA_SUCCESS)
    return result;
  return unmap(address, *range) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count) {
  TENON_ENTER();
  AddressRange *range = nullptr;
  if (!access || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = findWhole(driver, address, bytes, range); result != CUDA_SUCCESS)
    return result;
  if (!range->mapped)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || access[i].location.id != range->device->ordinal ||
        access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
      return CUDA_ERROR_NOT_SUPPORTED;
  Memory &memory = *range->device->memory;
  if (access[count - 1].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
    memory.retire(address);
  else if (memory.commit(address, bytes))
    memory.setOrigin(address, driver.function);
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
  TENON_ENTER();
  const AddressRange *range = findRange(driver, reinterpret_cast<uint64_t>(address));
  if (!handle || !range || !range->mapped)
    return CUDA_ERROR_INVALID_VALUE;
  *handle = addHandle(driver, range->mapped);
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags) {
  TENON_ENTER();
  const std::shared_ptr<PhysicalMemory> memory = findHandle(driver, handle);
  if (!out || !memory || flags || !memory->isExportable)
    return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_NOT_SUPPORTED;
  const int descriptor = fcntl(memory->file, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0)
    return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int *>(out) = descriptor;
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType type) {
  TENON_ENTER_CONTEXT();
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_NOT_SUPPORTED;
  const int descriptor = static_cast<int>(reinterpret_cast<intptr_t>(osHandle));
  // What another driver, or a program itself, put behind the descriptor is not memory of a device.
  struct stat description;
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(descriptor, &description) != 0 ||
      !isWhole(static_cast<uint64_t>(description.st_size)))
    return CUDA_ERROR_INVALID_VALUE;
  const int file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (file < 0)
    return CUDA_ERROR_OPERATING_SYSTEM;
  *handle = addHandle(driver, std::make_shared<PhysicalMemory>(*context->device,
                                                               static_cast<uint64_t>(description.st_size), file, true));
  return CUDA_SUCCESS;
}
