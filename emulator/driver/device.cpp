// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices and their attributes, by the row that their architecture has in abi/arch_table.cpp.
#include "emulator/driver/device.h"

#include "emulator/driver/context.h"

namespace tenon::emulator {

const abi::Architecture *findEmulated(uint16_t number) {
  const abi::Architecture *row = abi::findArchitecture(number);
  return row && row->product.multiprocessors != 0 ? row : nullptr;
}

std::string emulatedList() {
  std::string text;
  for (const abi::Architecture &row : abi::architectures())
    if (row.product.multiprocessors != 0)
      text += (text.empty() ? "" : ", ") + std::to_string(row.number);
  return text;
}

Device::Device() = default;
Device::~Device() = default;

std::string Device::name() const {
  return "Tenon emulator sm_" + std::to_string(arch->number) + " (CPU)";
}

abi::DeviceTraits Device::traits(int driverVersion) const {
  abi::DeviceTraits traits;
  traits.name = name();
  traits.computeCapability = arch->number;
  traits.driverVersion = driverVersion;
  traits.acceptsCubin = false;
  traits.maxSharedOptinBytes = arch->limits.blockSharedBytes;
  return traits;
}

std::optional<int> attribute(const Device &device, CUdevice_attribute which) {
  if (which < 1 || which >= CU_DEVICE_ATTRIBUTE_MAX)
    return std::nullopt;
  const abi::Architecture &arch = *device.arch;
  const int cc = arch.number;
  switch (which) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    return static_cast<int>(abi::kMaxBlockThreads);
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return static_cast<int>(abi::kMaxBlockThreads);
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return static_cast<int>(abi::kMaxBlockThreadsZ);
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return static_cast<int>(abi::kMaxGrid[0]);
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return static_cast<int>(abi::kMaxGrid[2]);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return static_cast<int>(abi::kMaxStaticSharedBytes);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return static_cast<int>(arch.limits.blockSharedBytes);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return static_cast<int>(arch.limits.sharedBytes);
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return static_cast<int>(arch.reservedSharedBytes());
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return static_cast<int>(abi::kWarpLanes);
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
    return 2147483647;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    return static_cast<int>(arch.limits.blockRegisters);
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return static_cast<int>(arch.limits.registers);
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return static_cast<int>(arch.product.clockKhz);
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 1000000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 64;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return static_cast<int>(arch.product.l2Bytes);
  case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    return 512;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return static_cast<int>(arch.product.multiprocessors);
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return static_cast<int>(arch.limits.threads);
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return static_cast<int>(arch.limits.blocks);
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
    return abi::hasClusters(arch.number);
  default:
    return 0;
  }
}

} // namespace tenon::emulator
