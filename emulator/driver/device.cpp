// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices and their attributes by architecture.
#include "emulator/driver/device.h"

#include "emulator/driver/context.h"

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

Device::Device() = default;
Device::~Device() = default;

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

std::optional<int> attribute(const Device &device, CUdevice_attribute which) {
  if (which < 1 || which >= CU_DEVICE_ATTRIBUTE_MAX)
    return std::nullopt;
  const ArchLimits &arch = *device.arch;
  int cc = arch.arch.number;
  switch (which) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return 2147483647;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return 48 << 10;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return arch.sharedPerBlockOptin;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return arch.sharedPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return cc >= 80 ? 1024 : 0;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
    return 2147483647;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return arch.registersPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return arch.clockKhz;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 1000000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 64;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return arch.l2Bytes;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    return 512;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return arch.multiprocessors;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return arch.maxThreadsPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return arch.maxBlocksPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return cc / 10;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return cc % 10;
  case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    return 0xffff;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    return device.ordinal;
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    return 1;
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
    return 1;
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
    return cc >= 90;
  default:
    return 0;
  }
}

} // namespace tenon::emulator
