// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices and their attributes by architecture.
#include "emulator/driver/state.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {
namespace {

constexpr abi::TargetArch sm(uint16_t number) {
  return {number, abi::ArchSuffix::None};
}

// From the CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability"; multiprocessors, clocks
// and caches are those of a common product of the architecture.
constexpr ArchLimits kArchs[] = {
    //        SMs  kHz      thr/SM blk/SM regs/SM sh/SM        opt-in       L2
    {sm(70), 80, 1530000, 2048, 32, 65536, 96 << 10, 96 << 10, 6 << 20},
    {sm(75), 40, 1590000, 1024, 16, 65536, 64 << 10, 64 << 10, 4 << 20},
    {sm(80), 108, 1410000, 2048, 32, 65536, 164 << 10, 163 << 10, 40 << 20},
    {sm(86), 84, 1695000, 1536, 16, 65536, 100 << 10, 99 << 10, 6 << 20},
    {sm(87), 16, 1300000, 1536, 16, 65536, 164 << 10, 163 << 10, 4 << 20},
    {sm(89), 128, 2520000, 1536, 24, 65536, 100 << 10, 99 << 10, 72 << 20},
    {sm(90), 132, 1980000, 2048, 32, 65536, 228 << 10, 227 << 10, 50 << 20},
    {sm(100), 148, 1965000, 2048, 32, 65536, 228 << 10, 227 << 10, 126 << 20},
    {sm(103), 148, 1965000, 2048, 32, 65536, 228 << 10, 227 << 10, 126 << 20},
    {sm(120), 170, 2407000, 1536, 24, 65536, 100 << 10, 99 << 10, 96 << 20},
    {sm(121), 48, 2400000, 1536, 24, 65536, 100 << 10, 99 << 10, 24 << 20},
};

} // namespace

const ArchLimits *findArchLimits(abi::TargetArch arch) {
  for (const ArchLimits &row : kArchs)
    if (row.arch == arch)
      return &row;
  return nullptr;
}

std::string archLimitsList() {
  std::string text;
  for (const ArchLimits &row : kArchs)
    text += (text.empty() ? "" : ", ") + std::to_string(row.arch.number);
  return text;
}

std::string Device::name() const {
  return "Tenon emulator " + arch->arch.toString() + " (CPU)";
}

abi::DeviceTraits Device::traits(int driverVersion) const {
  abi::DeviceTraits traits;
  traits.name = name();
  traits.computeCapability = arch->arch.number;
  traits.driverVersion = driverVersion;
  traits.acceptsCubin = false;
  traits.maxSharedOptinBytes = static_cast<uint32_t>(arch->sharedPerBlockOptin);
  return traits;
}

} // namespace tenon::emulator

CUresult cuDeviceGetCount(int *count) {
  TENON_ENTER();
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(driver.devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  TENON_ENTER();
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (!findDevice(ordinal))
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!name || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::string text = device->name();
  size_t bytes = std::min(text.size(), static_cast<size_t>(length) - 1);
  memcpy(name, text.data(), bytes);
  name[bytes] = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!uuid)
    return CUDA_ERROR_INVALID_VALUE;
  // "tenon-emulator", then architecture and ordinal.
  memcpy(uuid->bytes, "tenon-emulator", 14);
  uuid->bytes[14] = static_cast<char>(device->arch->arch.number);
  uuid->bytes[15] = static_cast<char>(ordinal);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  *bytes = device->memory->size();
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!major || !minor)
    return CUDA_ERROR_INVALID_VALUE;
  *major = device->arch->arch.number / 10;
  *minor = device->arch->arch.number % 10;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice ordinal) {
  TENON_ENTER();
  if (!findDevice(ordinal))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!id || length < 13)
    return CUDA_ERROR_INVALID_VALUE;
  snprintf(id, static_cast<size_t>(length), "ffff:%02x:00.0", ordinal); // no real bus has this domain
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal) {
  TENON_ENTER();
  Device *device = findDevice(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!value || attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  const ArchLimits &arch = *device->arch;
  int cc = arch.arch.number;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = 1024;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    *value = 1024;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    *value = 64;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    *value = 2147483647;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    *value = 65535;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    *value = 48 << 10;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = arch.sharedPerBlockOptin;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    *value = arch.sharedPerMultiprocessor;
    break;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    *value = cc >= 80 ? 1024 : 0;
    break;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    *value = 65536;
    break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    *value = 32;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
    *value = 2147483647;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    *value = 65536;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    *value = arch.registersPerMultiprocessor;
    break;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    *value = arch.clockKhz;
    break;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    *value = 1000000;
    break;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    *value = 64;
    break;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    *value = arch.l2Bytes;
    break;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    *value = 512;
    break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = arch.multiprocessors;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    *value = arch.maxThreadsPerMultiprocessor;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    *value = arch.maxBlocksPerMultiprocessor;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = cc / 10;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = cc % 10;
    break;
  case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    *value = 0xffff;
    break;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    *value = ordinal;
    break;
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    *value = 1;
    break;
  case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
  case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
  case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
    *value = 1;
    break;
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
    *value = cc >= 90;
    break;
  default:
    *value = 0;
    break;
  }
  return CUDA_SUCCESS;
}
