// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What computeOccupancy says, against the calculator that NVIDIA publishes with the toolkit (cuda_occupancy.h), for
// every architecture and many kernels. Where the folder of cuda.h does not hold it, this is skipped.
#include "abi/occupancy.h"

#include "abi/arch_table.h"
#include "support/status.h"

#include <gtest/gtest.h>

#if __has_include(<cuda_occupancy.h>)
#include <cstring> // what it uses and does not include
#include <cuda_occupancy.h>
#define HAS_CALCULATOR 1
#else
#define HAS_CALCULATOR 0
#endif

namespace tenon::abi {
namespace {

#if HAS_CALCULATOR
struct Kernel {
  uint64_t threads = 0;
  uint32_t registers = 0;
  uint64_t sharedBytes = 0;
};

/// What the driver tells of a device with these limits.
cudaOccDeviceProp propertiesOf(const Architecture &row) {
  const MultiprocessorLimits &limits = row.limits;
  cudaOccDeviceProp device;
  device.computeMajor = row.number / 10;
  device.computeMinor = row.number % 10;
  device.maxThreadsPerBlock = int(kMaxBlockThreads);
  device.maxThreadsPerMultiprocessor = int(limits.threads);
  device.regsPerBlock = int(limits.blockRegisters);
  device.regsPerMultiprocessor = int(limits.registers);
  device.warpSize = int(kWarpLanes);
  device.sharedMemPerBlock = kMaxStaticSharedBytes;
  device.sharedMemPerMultiprocessor = limits.sharedBytes;
  device.numSms = 1;
  device.sharedMemPerBlockOptin = limits.blockSharedBytes;
  device.reservedSharedMemPerBlock = row.reservedSharedBytes();
  return device;
}

cudaOccResult calculate(const cudaOccDeviceProp &device, const Kernel &kernel) {
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = 1024;
  function.numRegs = int(kernel.registers);
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = kernel.sharedBytes;
  const cudaOccDeviceState state;
  cudaOccResult result = {};
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, int(kernel.threads),
                                                    kernel.sharedBytes),
            CUDA_OCC_SUCCESS);
  return result;
}

unsigned factorOf(OccupancyLimit limit) {
  switch (limit) {
  case OccupancyLimit::Unknown:
    return 0;
  case OccupancyLimit::Threads:
    return OCC_LIMIT_WARPS;
  case OccupancyLimit::Blocks:
    return OCC_LIMIT_BLOCKS;
  case OccupancyLimit::Registers:
    return OCC_LIMIT_REGISTERS;
  case OccupancyLimit::SharedMemory:
    return OCC_LIMIT_SHARED_MEMORY;
  }
  return 0;
}

/// The first kernel on which the two differ, or "".
std::string firstDifference(TargetArch arch) {
  const cudaOccDeviceProp device = propertiesOf(*findArchitecture(arch.number));
  for (uint64_t threads :
       {1, 32, 33, 64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 480, 512, 640, 768, 1000, 1024, 1025})
    for (uint32_t registers = 0; registers < 256; ++registers)
      for (uint64_t sharedBytes : {0, 1, 1000, 4096, 16 << 10, 40000, 48 << 10, (48 << 10) + 1, 64 << 10, 80 << 10,
                                   99 << 10, 100 << 10, 163 << 10, 164 << 10, 227 << 10, (227 << 10) + 1}) {
        const cudaOccResult wanted = calculate(device, {threads, registers, sharedBytes});
        const Occupancy found = computeOccupancy(arch, threads, registers, sharedBytes);
        if (int(found.blocksPerSm) != wanted.activeBlocksPerMultiprocessor ||
            !(wanted.limitingFactors & factorOf(found.limit)))
          return concat(threads, " threads, ", registers, " registers, ", sharedBytes, " bytes: ", found.blocksPerSm,
                        " by ", spelling(found.limit), ", wanted ", wanted.activeBlocksPerMultiprocessor,
                        " by factors ", wanted.limitingFactors);
      }
  return "";
}
#endif

TEST(OccupancyCalculator, AgreesForEveryKnownArchitecture) {
#if HAS_CALCULATOR
  for (const ArchInfo &info : knownArchs())
    if (info.arch.suffix == ArchSuffix::None) {
      EXPECT_EQ(firstDifference(info.arch), "") << info.arch.toString();
    }
#else
  GTEST_SKIP() << "cuda_occupancy.h is not beside cuda.h: it comes with the headers of the CUDA runtime";
#endif
}

} // namespace
} // namespace tenon::abi
