// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/module/occupancy.h"

#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/module/module.h"

#include <algorithm>

using namespace tenon::emulator;

int tenon::emulator::blocksPerMultiprocessor(const Kernel &kernel, int threads, size_t dynamicShared) {
  const Device &device = *kernel.module->context->device;
  const ArchLimits &arch = *device.arch;
  if (threads <= 0 || threads > static_cast<int>(kernel.decoded->maxThreads) ||
      dynamicShared > static_cast<size_t>(kernel.maxDynamicShared))
    return 0;
  int warps = (threads + 31) / 32;
  int blocks = std::min(arch.maxBlocksPerMultiprocessor, arch.maxThreadsPerMultiprocessor / (warps * 32));
  size_t shared = kernel.decoded->staticShared + dynamicShared + (arch.arch.number >= 80 ? 1024 : 0);
  if (shared)
    blocks = std::min(blocks, static_cast<int>(static_cast<size_t>(arch.sharedPerMultiprocessor) / shared));
  int registers = static_cast<int>(kernel.decoded->registersPerThread + 7) / 8 * 8 * warps * 32;
  return std::min(blocks, arch.registersPerMultiprocessor / registers);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamicShared) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!blocks || threads <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  *blocks = blocksPerMultiprocessor(*kernel, threads, dynamicShared);
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                              size_t dynamicShared, unsigned) {
  TENON_CALL();
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamicShared);
}
CUresult cuOccupancyMaxPotentialBlockSize(int *minGrid, int *blockSize, CUfunction function,
                                          CUoccupancyB2DSize dynamicSharedOf, size_t dynamicShared, int limit) {
  TENON_ENTER_CONTEXT();
  Kernel *kernel = findKernel(function);
  if (!minGrid || !blockSize)
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  int most = static_cast<int>(kernel->decoded->maxThreads), bestThreads = 0, bestBlocks = 0;
  if (limit > 0)
    most = std::min(most, limit);
  for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
    int blocks = blocksPerMultiprocessor(*kernel, threads, dynamicSharedOf ? dynamicSharedOf(threads) : dynamicShared);
    if (blocks * threads > bestBlocks * bestThreads) {
      bestBlocks = blocks;
      bestThreads = threads;
    }
  }
  *blockSize = bestThreads;
  *minGrid = bestBlocks * context->device->arch->multiprocessors;
  return CUDA_SUCCESS;
}
